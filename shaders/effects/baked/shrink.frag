// The canvas at a smaller size: the mean of the cell of pixels that each small one stands for (format/effects.md 8.1).
// in: premultiplied. out: straight.
#include "canvas.glsl"

void main() {
    ivec2 low = ivec2(floor(floor(v_frame) * u_canvas_size / u_region.zw));
    ivec2 high = max(ivec2(floor((floor(v_frame) + 1.0) * u_canvas_size / u_region.zw)), low + 1);
    vec4 sum = vec4(0.0);
    for (int y = low.y; y < high.y; y++) {
        for (int x = low.x; x < high.x; x++) sum += texelFetch(u_source, ivec2(x, y), 0);
    }
    vec4 mean = sum / float((high.x - low.x) * (high.y - low.y));
    f_color = mean.a > 0.0 ? vec4(mean.rgb / mean.a, mean.a) : vec4(0.0);
}
