// Wipes in the cells of a grid, squares, diamonds or discs growing in each (effects.md 8.11).
#include "wipe.glsl"
#include "hash.glsl"

uniform float u_columns, u_rows;
uniform float u_tile_shape;              // 0 square, 1 diamond, 2 disc
uniform float u_random_seed, u_feather;  // percent
uniform bool u_invert_grid;

float keep() {
    vec2 cells = clamp(floor(vec2(u_columns, u_rows) + 0.5), 1.0, 256.0);
    // The pixel's index selects the cell, the pixel's centre is the position in it.
    vec2 cell = min(quotient(vec2(pixel()) * cells, extent()), cells - 1.0);
    vec2 part = abs(2.0 * (place() / extent() * cells - cell) - 1.0);
    float random = u_random_seed / 100.0, feather = max(0.001, u_feather / 100.0);
    float local = clamp((progress() - h2(int(cell.x), int(cell.y)) * random) / max(1.0 - random, 1e-6), 0.0, 1.0);
    int shape = int(floor(u_tile_shape + 0.5));
    float d = shape == 0 ? max(part.x, part.y) : shape == 1 ? part.x + part.y : length(part);
    float share = ramp(1.4143 * local - feather, 1.4143 * local + feather, d);
    return u_invert_grid ? 1.0 - share : share;
}
