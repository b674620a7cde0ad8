// Turns the picture about a point, most at the point itself (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_radius;
uniform float u_angle;

vec2 source(vec2 q) {
    vec2 v = q - middle();
    float d = length(v);
    return d < u_radius ? middle() + turned(v, radians(u_angle) * (1.0 - d / u_radius)) : q;
}
