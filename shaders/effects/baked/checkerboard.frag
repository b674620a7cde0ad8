// Two colours in a chequered pattern: anti-aliased rectangles, drawn row by row over the picture (effects.md 8.6).
#include "canvas.glsl"

uniform float u_width;
uniform float u_height;
uniform float u_anchor_x;
uniform float u_anchor_y;
uniform vec4 u_color_a;
uniform vec4 u_color_b;
uniform float u_opacity;

void main() {
    vec2 cell = max(vec2(1.0), vec2(u_width, u_height)), origin = remainder(vec2(u_anchor_x, u_anchor_y), cell) - cell;
    vec2 low = floor(v_frame), first = quotient(low - origin, cell);
    vec4 c = texelFetch(u_source, pixel(), 0);
    float opacity = clamp(u_opacity / 100.0, 0.0, 1.0);
    for (int k = 0; k < 4; k++) {
        vec2 index = first + vec2(k % 2, k / 2), corner = origin + index * cell;
        vec2 shared_ = clamp(min(low + 1.0, corner + cell) - max(low, corner), 0.0, 1.0);
        vec4 tone = mod(index.x + index.y, 2.0) < 0.5 ? u_color_a : u_color_b;
        c = painted_atop(c, tone, opacity, shared_.x * shared_.y);
    }
    f_color = c;
}
