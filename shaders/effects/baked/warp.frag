// Bends the picture in one of seven styles (effects.md 8.8).
#include "warp.glsl"

uniform float u_style;      // 0 to 6, in the order of the cases below
uniform float u_warp_axis;  // 1: x and y change places
uniform float u_bend, u_horizontal_distortion, u_vertical_distortion;  // percent

vec2 bent(vec2 p, int style, float b) {
    float arc = 1.0 - p.x * p.x;
    switch (style) {
        case 0: return vec2(0.0, b * arc);
        case 1: return vec2(0.0, b * arc * 0.5 * (p.y + 1.0));
        case 2: return vec2(0.0, b * sin(2.0 * PI * p.x) * 0.5 * (p.y + 1.0));
        case 3: return vec2(0.0, b * sin(2.0 * PI * p.x));
        case 4: return p * b * (1.0 - clamp(length(p), 0.0, 1.0));
        case 5: return vec2(0.0, b * 0.5 * (p.x + 1.0));
        default: return vec2(0.0, b * arc * p.y);
    }
}

vec2 source(vec2 q) {
    vec2 p = 2.0 * q / extent() - 1.0, shift = vec2(u_horizontal_distortion, u_vertical_distortion) / 100.0;
    bool upright = floor(u_warp_axis + 0.5) == 1.0;
    if (upright) {
        p = p.yx;
        shift = shift.yx;
    }
    vec2 from = p - bent(p, int(max(0.0, floor(u_style + 0.5))), u_bend / 100.0) - shift;
    if (upright) from = from.yx;
    return 0.5 * (from + 1.0) * extent();
}
