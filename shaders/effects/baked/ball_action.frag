// The picture as a lattice of shaded balls (effects.md 8.8).
#include "effect.glsl"
#include "hash.glsl"
#include "arcsine.glsl"

uniform float u_grid;                  // px
uniform float u_ball_size, u_scatter;  // percent
uniform float u_seed;

void main() {
    float grid = max(4.0, u_grid), radius = 0.5 * grid * u_ball_size / 100.0;
    int seed = int(floor(u_seed));
    float jitter_max = 0.5 * grid * u_scatter / 100.0;
    // Of the 3 x 3 nearest cells, those whose ball can touch this pixel.
    ivec2 cell = ivec2(quotient(vec2(pixel()), vec2(grid)));
    vec2 in_cells = place() / grid - 0.5, margin = vec2((radius + abs(jitter_max) + 0.01) / grid);
    ivec2 low = max(cell - 1, ivec2(ceil(in_cells - margin))), high = min(cell + 1, ivec2(floor(in_cells + margin)));
    vec4 shown = vec4(0.0);
    for (int j = low.y; j <= high.y; j++)
        for (int i = low.x; i <= high.x; i++) {
            ivec2 at = ivec2(i, j);
            if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(vec2(at) * grid, extent()))) continue;
            vec2 middle = (vec2(at) + 0.5) * grid;
            int id = 7919 * at.x + at.y;
            vec2 jitter = 2.0 * vec2(h2(id, seed), h2(id, seed + 77)) - 1.0;
            vec2 v = place() - (middle + jitter * jitter_max);
            float n = length(v) / max(radius, 1e-6);
            if (n > 1.0) continue;
            float lift = n > 0.0 ? (2.0 / PI) * arcsine(n) / n : 2.0 / PI;
            vec4 c = texel_clamped(ivec2(floor(middle + v * lift * grid / (2.0 * radius) + 0.5)));
            if (c.a <= 0.0) continue;  // keeps the balls below visible
            vec2 tilt = v / radius;
            float light = clamp(0.35 + 0.65 * (-0.5 * tilt.x - 0.5 * tilt.y + 0.7 * sqrt(1.0 - n * n)), 0.0, 1.0);
            shown = vec4(c.rgb * light, c.a);
        }
    put(shown);
}
