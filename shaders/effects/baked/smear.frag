// Drags one spot of the picture to another (effects.md 8.8).
#include "warp.glsl"

uniform float u_from_x, u_from_y, u_to_x, u_to_y, u_radius;  // px
uniform float u_elasticity;  // percent

vec2 source(vec2 q) {
    vec2 from = vec2(u_from_x, u_from_y);
    float d = distance(q, center() + from);
    if (d >= u_radius) return q;
    float share = pow(eased(1.0 - d / u_radius), 1.0 / max(0.1, u_elasticity / 100.0));
    return q - (vec2(u_to_x, u_to_y) - from) * share;
}
