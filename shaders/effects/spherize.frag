// Wraps the picture over a ball's front (effects.md 8.8).
#include "warp.glsl"
#include "arcsine.glsl"
#include "middle.glsl"

uniform float u_radius;
uniform float u_amount;

vec2 source(vec2 q) {
    vec2 v = q - middle();
    float n = length(v) / u_radius;
    return n > 0.0 && n < 1.0 ? middle() + v * (1.0 + u_amount / 100.0 * (2.0 / PI * arcsine(n) / n - 1.0)) : q;
}
