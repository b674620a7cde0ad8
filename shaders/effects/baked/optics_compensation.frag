// Bends the picture like a wide lens, or straightens it again (format/effects.md 8.8).
#include "warp.glsl"

uniform float u_field_of_view;  // degrees
uniform bool u_reverse;
uniform float u_center_x, u_center_y;  // px from the canvas centre

vec2 source(vec2 q) {
    float k = 0.5 * tan(0.5 * radians(u_field_of_view));
    vec2 middle = center() + vec2(u_center_x, u_center_y);
    float r = distance(q, middle) / length(center()), bend = k * r * r;
    float scale = 1.0;
    if (u_reverse) scale = 1.0 / (1.0 + bend);
    else if (bend > 1e-9) scale = (4.0 * bend > 1.0 ? 1.0 : 1.0 - sqrt(1.0 - 4.0 * bend)) / (2.0 * bend);
    return middle + (q - middle) * scale;
}
