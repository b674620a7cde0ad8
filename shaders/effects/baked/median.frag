// Median of each pixel's square neighbourhood on the canvas, by channel (effects.md 8.7).
#include "canvas.glsl"
#include "median.glsl"

uniform float u_radius;

bool counts(ivec2 offset) {
    return on_canvas(pixel() + offset);
}

void main() {
    int margin = int(clamp(floor(u_radius + 0.5), 0.0, 8.0));
    ivec2 low = max(pixel() - margin, ivec2(0)), high = min(pixel() + margin, ivec2(u_canvas_size) - 1);
    int count = (high.x - low.x + 1) * (high.y - low.y + 1);
    put(vec4(ranked(margin, float(count >> 1)), here().a));
}
