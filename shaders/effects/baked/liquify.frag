// Pushes, turns and pinches the picture under one brush (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_brush_size, u_push_x, u_push_y;  // px
uniform float u_twirl;  // degrees
uniform float u_pinch;  // percent

vec2 source(vec2 q) {
    float d = distance(q, middle());
    if (d >= u_brush_size) return q;
    float share = eased(1.0 - d / u_brush_size);
    vec2 pushed = q - vec2(u_push_x, u_push_y) * share;
    return middle() + turned(pushed - middle(), -radians(u_twirl) * share) * (1.0 + u_pinch / 100.0 * share);
}
