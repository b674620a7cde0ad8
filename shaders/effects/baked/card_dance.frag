// Cards rise and turn by the brightness at their centres. They can leave their cells, and later ones are on top
// (effects.md 8.11).
#include "effect.glsl"

uniform float u_rows, u_columns, u_phase;
uniform float u_amount;         // percent
uniform float u_card_rotation;  // degrees

// Texel that a card shows at this pixel, transparent outside the card.
vec4 card_at(vec2 card, vec2 cards, vec2 size) {
    vec2 middle = (2.0 * card + 1.0) * extent() / (2.0 * cards);  // one rounding: a centre can lie between two pixels
    float drive = 2.0 * luma709(texel_clamped(ivec2(floor(middle + 0.5))).rgb) - 1.0;
    float wave = sin(2.0 * PI * u_phase / 100.0 + 0.7 * card.x + 0.45 * card.y);
    float moved = (drive + 0.3 * wave) * clamp(u_amount / 100.0, 0.0, 1.0);
    vec2 lifted = middle - vec2(0.0, moved * 0.4 * min(extent().x, extent().y));
    vec2 from = turned(place() - lifted, -radians(u_card_rotation * moved));
    if (any(greaterThan(abs(from), 0.5 * size))) return vec4(0.0);
    return texel(ivec2(floor(middle + from)));
}

void main() {
    vec2 cards = clamp(floor(vec2(u_columns, u_rows) + 0.5), 1.0, 64.0), size = extent() / cards;
    // A card is moved by at most 1.3 * 0.4 of the shorter side, and turned about its centre.
    float away = 0.52 * min(extent().x, extent().y) * clamp(u_amount / 100.0, 0.0, 1.0), half_diagonal = 0.5 * length(size);
    vec2 low = max(vec2(0.0), floor((place() - vec2(half_diagonal, half_diagonal + away)) / size));
    vec2 high = min(cards - 1.0, floor((place() + vec2(half_diagonal, half_diagonal + away)) / size));
    for (float row = high.y; row >= low.y; row--) {
        for (float column = high.x; column >= low.x; column--) {
            vec4 c = card_at(vec2(column, row), cards, size);
            if (c.a > 0.0) {
                put(c);
                return;
            }
        }
    }
    put_erased();
}
