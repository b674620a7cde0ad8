// Square blocks of one colour (effects.md 8.9): the mean of 16 taps, or the pixel in the middle. A canvas takes exact means
// instead of the taps (baked/shrink.frag, baked/blocks.frag).
#include "effect.glsl"
#include "around.glsl"

uniform float u_horizontal_blocks;
uniform float u_vertical_blocks;
uniform bool u_sharp_colors;

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_erased();
        return;
    }
    vec2 size = max(vec2(1.0), floor(extent()));
    vec2 blocks = clamp(floor(vec2(u_horizontal_blocks, u_vertical_blocks) + 0.5), vec2(1.0), size);
    vec2 block = min(floor(q * blocks / size), blocks - 1.0);
    // Bounds are whole px: the block whose bounds hold this pixel may be a neighbour of the one of equal division.
    block -= vec2(lessThan(floor(q), floor(block * size / blocks)));
    block += vec2(greaterThanEqual(floor(q), floor((block + 1.0) * size / blocks)));
    vec2 low = floor(block * size / blocks), high = floor((block + 1.0) * size / blocks);
    if (u_sharp_colors) {
        put(sampled(floor(0.5 * (low + high)) + 0.5));
        return;
    }
    vec4 sum = vec4(0.0);
    for (int m = 0; m < 16; m++) sum += sampled(mix(low, high, (vec2(m % 4, m / 4) + 0.5) / 4.0));
    put(sum / 16.0);
}
