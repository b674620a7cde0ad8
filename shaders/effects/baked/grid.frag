// Lines at regular distances, one anti-aliased outline over the picture (effects.md 8.6).
#include "canvas.glsl"

uniform float u_width;
uniform float u_height;
uniform float u_anchor_x;
uniform float u_anchor_y;
uniform float u_thickness;
uniform vec4 u_color;
uniform float u_opacity;

// Share of this pixel that the lines along one axis cover. `steps`: a pixel's steps to which edges are rounded.
float covered(float low, float pitch, float anchor, float side, float steps) {
    // Thinner lines may leave the far edge uncovered, because none begins beyond it.
    if (u_thickness >= 2.0 * pitch) return 1.0;
    float start = anchor - quotient(anchor, pitch) * pitch, nudge = mod(floor(u_thickness + 0.5), 2.0) == 1.0 ? 0.5 : 0.0, sum = 0.0;
    float nearest = floor((low - start) / pitch + 0.5), around = 2.0;
    for (float k = max(0.0, nearest - around); k <= nearest + around; k++) {
        float at = start + k * pitch;
        if (at > side) break;
        at = floor(at + 0.5) + nudge;
        vec2 edges = floor((at + vec2(-0.5, 0.5) * u_thickness) * steps + 0.5) / steps;
        sum += clamp(min(low + 1.0, edges.y) - max(low, edges.x), 0.0, 1.0);
    }
    return min(1.0, sum);
}

void main() {
    vec2 low = floor(v_frame);
    // Skia's rasteriser rounds the upper and lower edges of paths to quarters of a pixel.
    float x = covered(low.x, max(1.0, u_width), u_anchor_x, extent().x, 65536.0);
    float y = covered(low.y, max(1.0, u_height), u_anchor_y, extent().y, 4.0);
    f_color = painted_atop(texelFetch(u_source, pixel(), 0), u_color, clamp(u_opacity / 100.0, 0.0, 1.0), x + y - x * y);
}
