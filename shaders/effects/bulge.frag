// Swells or sinks the picture about a point (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_radius;
uniform float u_height;

vec2 source(vec2 q) {
    vec2 v = q - middle();
    float d = length(v);
    return d < u_radius ? middle() + v * (1.0 - u_height / 100.0 * eased(1.0 - d / u_radius)) : q;
}
