// Mean of the neighbours with similar luma (effects.md 8.1).
#include "canvas.glsl"

uniform int u_window;
uniform float u_threshold;
uniform float u_mode;  // 1 shows the share of the other neighbours, 2 darkens by it

void main() {
    vec4 c = here(), sum = vec4(0.0);
    float l = luma709(c.rgb), taken = 0.0, rejected = 0.0;
    for (int y = -u_window; y <= u_window; y++) {
        for (int x = -u_window; x <= u_window; x++) {
            if (x * x + y * y > u_window * u_window) continue;
            vec4 t = texel_clamped(pixel() + ivec2(x, y));
            if (abs(luma709(t.rgb) - l) * 255.0 > u_threshold) {
                rejected++;
                continue;
            }
            sum += vec4(t.rgb * t.a, t.a);
            taken++;
        }
    }
    float edge = rejected / (taken + rejected), mode = floor(u_mode + 0.5);
    vec3 rgb = sum.a > 0.0 ? sum.rgb / sum.a : c.rgb;
    if (mode == 1.0) put(vec4(vec3(edge), c.a));
    else if (mode == 2.0) put(vec4(rgb * (1.0 - edge), c.a));
    else put(vec4(rgb, taken > 0.0 ? sum.a / taken : c.a));
}
