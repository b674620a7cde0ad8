// A blur with the shape and the highlights of a lens iris (effects.md 8.1).
#include "canvas.glsl"

uniform int u_window;
uniform float u_blades;
uniform float u_iris_rotation;
uniform float u_gain;
uniform float u_highlight_threshold;

bool in_iris(vec2 d) {
    float r = float(u_window), n = floor(u_blades + 0.5);
    if (n < 3.0) return length(d) <= r;
    float step_ = 2.0 * PI / n, angle = d == vec2(0.0) ? 0.0 : atan(d.y, d.x) - radians(u_iris_rotation);
    angle -= step_ * floor(angle / step_ + 0.5);
    return length(d) * cos(angle) <= r * cos(PI / n);
}

void main() {
    float threshold = u_highlight_threshold / 100.0, count = 0.0;
    vec4 sum = vec4(0.0);
    for (int y = -u_window; y <= u_window; y++) {
        for (int x = -u_window; x <= u_window; x++) {
            if (!in_iris(vec2(x, y))) continue;
            vec4 t = texel_clamped(pixel() + ivec2(x, y));
            float l = luma709(t.rgb);
            if (l > threshold) t.rgb *= 1.0 + (max(1.0, u_gain) - 1.0) * (l - threshold) / (1.0 - threshold);
            sum += vec4(t.rgb * t.a, t.a);
            count++;
        }
    }
    vec3 rgb = sum.a > 0.0 ? sum.rgb / sum.a : vec3(0.0);
    put(vec4(rgb / max(1.0, luma709(rgb)), sum.a / count));
}
