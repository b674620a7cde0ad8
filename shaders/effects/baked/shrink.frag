// The canvas at a smaller size: each pixel is the mean of its cell of canvas pixels, as straight bytes
// (effects.md 8.1). Whole numbers: a mean of two pixels is often a tie, which floats of 0..1 would round at
// random.
#include "canvas.glsl"

void main() {
    ivec2 low = ivec2(quotient(floor(v_frame) * u_canvas_size, u_region.zw));
    ivec2 high = max(ivec2(quotient((floor(v_frame) + 1.0) * u_canvas_size, u_region.zw)), low + 1);
    vec4 sum = vec4(0.0);
    for (int y = low.y; y < high.y; y++) {
        for (int x = low.x; x < high.x; x++) {
            vec4 t = roundEven(straight_at(ivec2(x, y)) * 255.0);
            sum += vec4(t.rgb * t.a, t.a);
        }
    }
    float count = float((high.x - low.x) * (high.y - low.y));
    f_color = roundEven(vec4(sum.a > 0.0 ? sum.rgb / sum.a : vec3(0.0), sum.a / count)) / 255.0;
}
