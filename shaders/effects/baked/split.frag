// Cuts the picture along a line and moves the halves apart (effects.md 8.8).
#include "warp.glsl"

uniform float u_split_offset, u_center_x, u_center_y;  // px
uniform float u_angle;  // degrees

vec2 source(vec2 q) {
    vec2 n = direction(u_angle);
    float side = dot(q - center() - vec2(u_center_x, u_center_y), n) >= 0.0 ? 1.0 : -1.0;
    return q - side * 0.5 * u_split_offset * n;
}
