// Keys out a range around a colour, measured in one of three colour models (effects.md 8.10).
#include "effect.glsl"

uniform vec4 u_key_color;  // straight sRGB
uniform float u_color_space;  // 0 luma and differences of channels, 1 YUV, 2 rgb
uniform float u_min_tolerance, u_max_tolerance, u_luma_weight;  // percent

vec3 projected(vec3 c) {
    int space = int(floor(u_color_space + 0.5));
    float y = luma709(c);
    if (space == 0) return vec3(y, 0.5 * (c.r - c.g), 0.5 * (c.g - c.b));
    if (space == 1) return vec3(y, 0.565 * (c.b - y), 0.713 * (c.r - y));
    return c;
}

void main() {
    vec4 c = here();
    vec3 off = (projected(c.rgb) - projected(u_key_color.rgb)) * vec3(u_luma_weight / 100.0, 1.0, 1.0);
    put(vec4(c.rgb, c.a * ramp(u_min_tolerance / 100.0, u_max_tolerance / 100.0, length(off))));
}
