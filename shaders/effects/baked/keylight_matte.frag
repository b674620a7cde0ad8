// Keys out a screen colour: takes the spill out of the colours and multiplies the alpha (effects.md 8.10).
#include "effect.glsl"

uniform vec4 u_screen_color;  // straight sRGB
uniform float u_balance, u_gain, u_clip_black, u_clip_white, u_despill;  // percent
uniform int u_primary;  // the screen's channel: 0 red, 1 green, 2 blue

vec2 others(vec3 c) {
    return u_primary == 0 ? c.gb : u_primary == 1 ? c.rb : c.rg;
}

float screen_amount(vec3 c) {
    vec2 s = others(c);
    float beta = u_balance / 100.0;
    return c[u_primary] - (beta * max(s.x, s.y) + (1.0 - beta) * min(s.x, s.y));
}

void main() {
    vec4 c = here();
    if (c.a <= 0.0) {
        put_through();
        return;
    }
    float whole = screen_amount(u_screen_color.rgb);
    float amount = screen_amount(c.rgb) / (abs(whole) < 1e-4 ? 1.0 : whole) * u_gain / 100.0;
    float black = u_clip_black / 100.0, white = u_clip_white / 100.0, open = 1.0 - amount;
    float keep = white <= black ? step(black, open) : clamp((open - black) / (white - black), 0.0, 1.0);
    vec2 s = others(c.rgb);
    float limit = max(s.x, s.y);
    if (u_despill > 0.0 && keep > 0.0 && c[u_primary] > limit)
        c[u_primary] = mix(c[u_primary], limit, u_despill / 100.0);
    put(vec4(c.rgb, to_8_bits(c.a * keep)));
}
