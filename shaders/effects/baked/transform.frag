// Moves, scales and turns the picture about its centre; clipped to the canvas (format/effects.md 8.8).
#include "effect.glsl"

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
    vec2 q = center() + turned(v, -radians(u_rotation)) / scale - 0.5, corner = floor(q), part = q - corner;
    ivec2 p = ivec2(clamp(corner, vec2(-4.0), extent() + 4.0));
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        ivec2 step_ = ivec2(i & 1, i >> 1);
        vec2 w = mix(1.0 - part, part, vec2(step_));
        vec4 c = texel(p + step_);
        sum += w.x * w.y * vec4(c.rgb * c.a, c.a);
    }
    vec4 shown = sum * clamp(u_opacity / 100.0, 0.0, 1.0);
    put(shown.a > 0.0 ? vec4(shown.rgb / shown.a, shown.a) : vec4(0.0));
}
