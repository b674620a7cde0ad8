// Wipes by turning cards away, in an order: right, left, down, up, outwards (effects.md 8.11).
#include "wipe.glsl"

uniform float u_rows, u_columns;
uniform float u_flip_order;  // 0 right, 1 left, 2 down, 3 up, 4 outwards

float keep() {
    if (progress() >= 1.0) return 0.0;  // also on the middle line of each card
    vec2 cards = max(vec2(1.0), floor(vec2(u_columns, u_rows) + 0.5));
    vec2 at = vec2(pixel()) * cards, card = quotient(at, extent()), part = at / extent() - card - 0.5;
    vec2 place_of_card = card / max(cards - 1.0, 1.0);
    int order = int(floor(u_flip_order + 0.5));
    float rank = order == 0 ? place_of_card.x
        : order == 1 ? 1.0 - place_of_card.x
        : order == 2 ? place_of_card.y
        : order == 3 ? 1.0 - place_of_card.y
        : min(1.0, 2.0 * distance((card + 0.5) / cards, vec2(0.5)));
    float local = clamp((progress() - 0.5 * rank) / 0.5, 0.0, 1.0);
    float off = order == 2 || order == 3 ? part.y : part.x;
    return abs(off) <= 0.5 * (1.0 - local) ? 1.0 : 0.0;
}
