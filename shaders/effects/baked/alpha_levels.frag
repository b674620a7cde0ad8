// Levels of the alpha, as a table whose entries are cut off (effects.md 8.10).
#include "effect.glsl"

uniform float u_in_black, u_in_white, u_out_black, u_out_white;  // 0..255
uniform float u_gamma;

void main() {
    vec4 c = here();
    float t = clamp((c.a * 255.0 - u_in_black) / max(1e-6, u_in_white - u_in_black), 0.0, 1.0);
    float level = u_out_black + (u_out_white - u_out_black) * pow(t, 1.0 / max(0.001, u_gamma));
    put(vec4(c.rgb, clamp(floor(level + 1e-4), 0.0, 255.0) / 255.0));
}
