// Cards rise and turn by the brightness at their centres (format/effects.md 8.11).
#include "effect.glsl"

uniform float u_rows, u_columns, u_phase;
uniform float u_amount;         // percent
uniform float u_card_rotation;  // degrees

void main() {
    vec2 cards = clamp(floor(vec2(u_columns, u_rows) + 0.5), 1.0, 64.0), size = extent() / cards;
    vec2 card = floor(vec2(pixel()) / size), middle = (card + 0.5) * size;
    float drive = 2.0 * luma601(texel_clamped(ivec2(middle)).rgb) - 1.0;
    float wave = sin(2.0 * PI * u_phase / 100.0 + 0.7 * card.x + 0.45 * card.y);
    float moved = (drive + 0.3 * wave) * u_amount / 100.0;
    vec2 v = vec2(pixel()) - middle + vec2(0.0, moved * 0.4 * min(extent().x, extent().y));
    vec2 from = turned(v, -radians(u_card_rotation * moved));
    if (any(greaterThan(abs(from), 0.5 * size))) put_erased();
    else put(texel(ivec2(floor(middle + from + 0.5))));
}
