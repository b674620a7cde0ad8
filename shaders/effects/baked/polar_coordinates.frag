// Rolls the picture up around its centre, or unrolls it (effects.md 8.8).
#include "warp.glsl"

uniform float u_interpolation;  // percent
uniform float u_conversion;     // below 1: rectangle to polar; else polar to rectangle

vec2 source(vec2 q) {
    vec2 d = q - center();
    float far = length(center());
    vec2 from;
    if (u_conversion < 1.0) {
        float turn = mod(angle_of(vec2(-d.y, d.x)) / (2.0 * PI), 1.0);
        from = extent() * vec2(turn, length(d) / far);
    } else {
        float angle = 2.0 * PI * q.x / extent().x;
        from = center() + far * q.y / extent().y * vec2(sin(angle), -cos(angle));
    }
    return mix(q, from, u_interpolation / 100.0);
}
