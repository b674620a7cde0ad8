// Maps brightness through a cycling palette (effects.md 8.5).
#include "effect.glsl"

uniform sampler2D u_palette_colors;  // 1024 samples of the palette, straight encoded
uniform float u_phase_shift;         // degrees
uniform float u_cycle_repetitions, u_blend_with_original;

void main() {
    vec4 c = here();
    float u = fract(luma601(c.rgb) * max(0.01, u_cycle_repetitions) + u_phase_shift / 360.0);
    vec3 mapped = texelFetch(u_palette_colors, ivec2(u * 1023.0 + 0.5, 0), 0).rgb;
    put_color(c, mix(mapped, c.rgb, clamp(u_blend_with_original / 100.0, 0.0, 1.0)));
}
