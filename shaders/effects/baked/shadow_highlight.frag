// Opens shadows and closes highlights by the brightness around each pixel (effects.md 8.5).
#include "effect.glsl"

uniform sampler2D u_soft;  // the canvas after one box blur, straight
uniform float u_shadow_amount, u_highlight_amount, u_tonal_width;  // percent

void main() {
    vec4 c = here();
    float luma = luma601(texelFetch(u_soft, pixel(), 0).rgb), width = max(0.01, u_tonal_width / 100.0);
    float dark = luma / width, bright = (1.0 - luma) / width;
    float gain = 1.0 + u_shadow_amount / 100.0 * exp(-dark * dark) - u_highlight_amount / 100.0 * exp(-bright * bright);
    put_color(c, c.rgb * gain);
}
