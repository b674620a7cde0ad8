// Square blocks of one colour (effects.md 8.9): the mean of 16 taps, or the pixel in the middle. On a canvas exact
// means replace the taps (baked/shrink.frag, baked/blocks.frag).
#include "effect.glsl"
#include "around.glsl"
#include "cell_means.glsl"

uniform float u_horizontal_blocks;
uniform float u_vertical_blocks;
uniform bool u_sharp_colors;

vec2 size() {
    return max(vec2(1.0), extent());
}

vec2 blocks() {
    return clamp(floor(vec2(u_horizontal_blocks, u_vertical_blocks) + 0.5), vec2(1.0), size());
}

// Block of this pixel by equal division, although its whole-number bounds may not contain the pixel. On a canvas it is
// the block whose bounds contain the pixel, as in baked/blocks.frag.
vec2 own_block() {
    vec2 block = quotient(place() * blocks(), size());
#ifdef BAKED
    vec2 p = floor(place());
    block -= vec2(lessThan(p, quotient(block * size(), blocks())));
    block += vec2(greaterThanEqual(p, quotient((block + 1.0) * size(), blocks())));
#endif
    return block;
}

vec4 taps_of(vec2 block) {
    vec2 low = quotient(block * size(), blocks()), high = quotient((block + 1.0) * size(), blocks());
    vec4 sum = vec4(0.0);
    for (int m = 0; m < 16; m++) sum += sampled(mix(low, high, (vec2(m % 4, m / 4) + 0.5) / 4.0));
    return sum / 16.0;
}

void main() {
#ifdef CELLS
    put(taps_of(floor(v_frame)));
#else
    vec2 block = own_block();  // there is no inside test
    if (u_sharp_colors) {
        vec2 low = quotient(block * size(), blocks()), high = quotient((block + 1.0) * size(), blocks());
        vec2 middle = min(size() - 1.0, floor(0.5 * (low + high))) + 0.5;
        put(sampled(middle));
        return;
    }
    put(mean_of(block));
#endif
}
