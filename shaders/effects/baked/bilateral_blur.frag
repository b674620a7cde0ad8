// A blur that keeps edges: neighbours are weighted by distance and similarity (effects.md 8.1).
#include "canvas.glsl"

uniform int u_window;
uniform float u_color_sigma;
uniform bool u_preserve_alpha;

void main() {
    vec4 c = here(), sum = vec4(0.0);
    float near = max(0.5, 0.5 * float(u_window)), alike = max(1.0, u_color_sigma) / 255.0, weights = 0.0;
    for (int y = -u_window; y <= u_window; y++) {
        for (int x = -u_window; x <= u_window; x++) {
            vec4 t = texel_clamped(pixel() + ivec2(x, y));
            vec3 d = t.rgb - c.rgb;
            float w = exp(-0.5 * float(x * x + y * y) / (near * near) - 0.5 * dot(d, d) / (alike * alike));
            sum += vec4(t.rgb * t.a, t.a) * w;
            weights += w;
        }
    }
    put(vec4(sum.a > 0.0 ? sum.rgb / sum.a : c.rgb, u_preserve_alpha ? c.a : sum.a / weights));
}
