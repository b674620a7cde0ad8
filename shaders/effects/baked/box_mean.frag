// One axis of a box blur over straight bytes, colours weighted by alpha (effects.md 6). Sums of bytes are exact.
#include "canvas.glsl"

uniform ivec2 u_axis;
uniform int u_margin;  // px
uniform bool u_repeat_edge;

void main() {
    vec4 sum = vec4(0.0);
    for (int i = -u_margin; i <= u_margin; i++) {
        ivec2 p = pixel() + i * u_axis;
        vec4 bytes = round((u_repeat_edge ? texel_clamped(p) : texel(p)) * 255.0);
        sum += vec4(bytes.rgb * bytes.a, bytes.a);
    }
    vec4 mean = vec4(sum.a > 0.0 ? sum.rgb / sum.a : vec3(0.0), sum.a / float(2 * u_margin + 1));
    put(mean / 255.0);
}
