// Moves, scales and turns the picture about its centre; clipped to the canvas (effects.md 8.8).
#include "effect.glsl"
#include "cubic.glsl"

uniform float u_position_x, u_position_y;  // px
uniform float u_scale, u_opacity;          // percent
uniform float u_rotation;                  // degrees

void main() {
    float scale = u_scale / 100.0;
    if (scale <= 0.0) {
        put_erased();
        return;
    }
    vec2 v = place() - center() - vec2(u_position_x, u_position_y);
    vec2 point = center() + turned(v, -radians(u_rotation)) / scale, corner = floor(point - 0.5), part = point - 0.5 - corner;
    ivec2 p = ivec2(clamp(corner, vec2(-4.0), extent() + 4.0));
    bool is_cubic = u_is_image && (u_scale > 100.0 || (u_scale == 100.0 && u_rotation != 0.0));
    int low = is_cubic ? -1 : 0, high = is_cubic ? 2 : 1;
    vec4 sum = vec4(0.0);
    for (int y = low; y <= high; y++) {
        for (int x = low; x <= high; x++) {
            vec2 away = abs(vec2(x, y) - part);
            float w = is_cubic ? cubic(away.x) * cubic(away.y) : (1.0 - away.x) * (1.0 - away.y);
            ivec2 q = p + ivec2(x, y);
            if (is_cubic || on_canvas(q)) sum += w * texelFetch(u_source, clamp(q, ivec2(0), ivec2(extent()) - 1), 0);
        }
    }
    // The cubic filter repeats the picture's edge, which is anti-aliased.
    vec2 covered = is_cubic ? clamp(min(point, extent() - point) * scale + 0.5, 0.0, 1.0) : vec2(1.0);
    vec4 shown = clamp(sum, 0.0, 1.0) * covered.x * covered.y * to_8_bits(u_opacity / 100.0);
    f_color = vec4(min(shown.rgb, shown.a), shown.a);
}
