// Pulls the picture towards two knots (effects.md 8.8).
#include "warp.glsl"

uniform float u_knot1_x, u_knot1_y, u_knot2_x, u_knot2_y;   // px from the canvas centre
uniform float u_knot1_amount, u_knot2_amount, u_falloff;    // percent

vec2 pull(vec2 q, vec2 knot, float amount) {
    vec2 v = q - center() - knot;
    float sigma = max(4.0, u_falloff / 100.0 * min(extent().x, extent().y));
    return v * amount / 100.0 * exp(-dot(v, v) / (2.0 * sigma * sigma)) * 1.2;
}

vec2 source(vec2 q) {
    return q - pull(q, vec2(u_knot1_x, u_knot1_y), u_knot1_amount)
        - pull(q, vec2(u_knot2_x, u_knot2_y), u_knot2_amount);
}
