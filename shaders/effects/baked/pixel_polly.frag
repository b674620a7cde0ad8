// A square piece of the canvas, rotated about its centre and moved. Nearest pixels, transparent outside
// (effects.md 8.8).
#include "canvas.glsl"

uniform vec4 u_piece;  // canvas px: original centre, and current centre
uniform vec2 u_turn;   // cosine and sine of its rotation
uniform float u_cell;  // px
uniform float u_fade;

void main() {
    vec2 away = v_frame - u_piece.zw;
    vec2 own = vec2(u_turn.x * away.x + u_turn.y * away.y, u_turn.x * away.y - u_turn.y * away.x);
    ivec2 from = ivec2(floor(u_piece.xy + own));
    if (any(greaterThan(abs(own), vec2(0.5 * u_cell))) || !on_canvas(from)) discard;
    vec4 c = texel_clamped(from);
    if (c.a == 0.0) discard;  // keeps the pieces below visible
    put(vec4(c.rgb, c.a * u_fade));
}
