// Scales and turns the picture in square cells (effects.md 8.8).
#include "effect.glsl"

uniform float u_tile_size;                           // px
uniform float u_horizontal_scale, u_vertical_scale;  // percent
uniform float u_rotation;                            // degrees

void main() {
    float tile = max(4.0, u_tile_size);
    vec2 middle = (quotient(place(), vec2(tile)) + 0.5) * tile;
    vec2 scale = max(vec2(0.01), vec2(u_horizontal_scale, u_vertical_scale) / 100.0);
    vec2 local = turned(place() - middle, -radians(u_rotation)) / scale;
    if (max(abs(local.x), abs(local.y)) > 0.5 * tile) put_erased();
    else put(sampled(middle + local));
}
