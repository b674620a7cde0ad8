// Bilinear filter of bytes with weights in 256ths, like rasterisers with 8-bit textures. Columns are filtered before rows.

#ifndef TEXELS_8BIT_H
#define TEXELS_8BIT_H

#include "draw_op.h"

// Return the texel that contains a position of 0 to 1.
INLINE int32_t nearest_texel(float position, int32_t count) {
    return clamp_index((int32_t)clamp(position * (float)count, 0.0f, (float)(count - 1)), count);
}

static void nearest_texels(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict taps,
                           int count) {
    for (int i = 0; i < count; i++) taps[i] = nearest_texel(v[i], rows) * columns + nearest_texel(u[i], columns);
}

// Return the distance of a position from the first texel's centre, in 256ths of a texel, rounded to the nearest, ties to even.
INLINE int32_t position_in_256ths(float position, float size_256ths) {
    float at = clamp(position * size_256ths, -256.0f, size_256ths + 256.0f);
    return (int32_t)(bits_of(at + 12582912.0f) - 0x4b400000u) - 128;
}

// The first of the two texels around a position along a side, and the weight of the second one in 256ths. Beyond an edge, the
// last texel has all of the weight, so that the second one always follows the first. A side has at least two texels.
struct tap_8bit {
    int32_t first;
    uint32_t weight;
};

INLINE struct tap_8bit tap_8bit(float position, int32_t count) {
    int32_t distance = position_in_256ths(position, (float)count * 256.0f), texel = distance >> 8,
            first = clamp_index(texel, count - 1);
    uint32_t weight = texel > first ? 256 : texel < first ? 0 : (uint32_t)distance & 255;
    return (struct tap_8bit){first, weight};
}

static void taps_8bit(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict taps,
                      uint32_t *restrict weights_x, uint32_t *restrict weights_y, int count) {
    for (int i = 0; i < count; i++) {
        struct tap_8bit column = tap_8bit(u[i], columns), line = tap_8bit(v[i], rows);
        taps[i] = line.first * columns + column.first;
        weights_x[i] = column.weight, weights_y[i] = line.weight;
    }
}

INLINE uint32_t lerp_8bit(uint32_t one, uint32_t other, uint32_t weight) {
    return (one * (256 - weight) + other * weight + 128) >> 8;
}

// Interpolate two numbers of 8 bits at once, one in each half of a word.
INLINE uint32_t lerp_8bit_pair(uint32_t one, uint32_t other, uint32_t weight) {
    return (one * (256 - weight) + other * weight + 0x800080u) >> 8 & 0xff00ffu;
}

// Pack the four codes around each position into a word: two of the upper row in its lower half, two of the lower row in its upper
// half.
static void gather_code_taps(const uint8_t *restrict texels, int32_t columns, const int32_t *restrict taps,
                             uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        uint16_t upper, lower;
        __builtin_prefetch(texels + taps[i] + 2 * (ptrdiff_t)columns);
        memcpy(&upper, texels + taps[i], sizeof upper);
        memcpy(&lower, texels + taps[i] + columns, sizeof lower);
        found[i] = upper | (uint32_t)lower << 16;
    }
}

// Interpolate the four codes of a word.
INLINE uint32_t bilinear_code(uint32_t four, uint32_t weight_x, uint32_t weight_y) {
    uint32_t both = lerp_8bit_pair(four & 0xff00ffu, four >> 8 & 0xff00ffu, weight_x);
    return lerp_8bit(both & 255, both >> 16, weight_y);
}

// Return the alpha of a colour with alpha `full` and a coverage of 8 bits.
INLINE float alpha_of_code(uint32_t code, float full, float opacity) {
    float found = full * ((float)(int32_t)code * (1.0f / 255.0f));
    return select_float(found < 1.0f / 255.0f, 0.0f, found) * opacity;
}

static void bilinear_alphas(const uint32_t *restrict codes, const uint32_t *restrict weights_x, const uint32_t *restrict weights_y,
                            float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of_code(bilinear_code(codes[i], weights_x[i], weights_y[i]), full, opacity);
}

static void gather_bytes(const uint8_t *restrict texels, const int32_t *restrict taps, uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = texels[taps[i]];
}

static void gather_alphas(const uint8_t *restrict texels, const int32_t *restrict taps, float full, float opacity,
                          float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of_code(texels[taps[i]], full, opacity);
}

// Gather the four codes around each position of s->u and s->v into s->words[0], with their s->weights.
static void gather_codes_around(const uint8_t *texels, int32_t columns, int32_t rows, struct strip *s, int count) {
    taps_8bit(s->u, s->v, columns, rows, s->tap, s->weights[0], s->weights[1], count);
    gather_code_taps(texels, columns, s->tap, s->words[0], count);
}

static void multiply_by_mask(const uint32_t *restrict codes, const uint32_t *restrict weights_x, const uint32_t *restrict weights_y,
                             float *restrict alpha, int count) {
    for (int i = 0; i < count; i++)
        alpha[i] *= (float)(int32_t)bilinear_code(codes[i], weights_x[i], weights_y[i]) * (1.0f / 255.0f);
}

static void gather_pixel_taps(const uint32_t *restrict texels, int32_t columns, const int32_t *restrict taps,
                              uint32_t *restrict one, uint32_t *restrict two, uint32_t *restrict three, uint32_t *restrict four,
                              int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t *upper = texels + taps[i], *lower = upper + columns;
        one[i] = upper[0], two[i] = upper[1], three[i] = lower[0], four[i] = lower[1];
    }
}

static void gather_pixels(const uint32_t *restrict texels, const int32_t *restrict taps, uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = texels[taps[i]];
}

INLINE uint32_t lerp_pixel(uint32_t one, uint32_t other, uint32_t weight) {
    uint32_t even = lerp_8bit_pair(one & 0xff00ffu, other & 0xff00ffu, weight);
    return even | lerp_8bit_pair(one >> 8 & 0xff00ffu, other >> 8 & 0xff00ffu, weight) << 8;
}

static void bilinear_pixels(uint32_t *restrict pixels, const uint32_t *restrict right, const uint32_t *restrict lower,
                            const uint32_t *restrict last, const uint32_t *restrict weights_x, const uint32_t *restrict weights_y,
                            int count) {
    for (int i = 0; i < count; i++) {
        uint32_t upper = lerp_pixel(pixels[i], right[i], weights_x[i]);
        pixels[i] = lerp_pixel(upper, lerp_pixel(lower[i], last[i], weights_x[i]), weights_y[i]);
    }
}

// Filter pixels of 8 bits at s->u and s->v into s->words[0].
static void sample_pixels(const struct draw_op *op, struct strip *s, int count) {
    if (op->is_nearest) {
        nearest_texels(s->u, s->v, op->columns, op->rows, s->tap, count);
        gather_pixels(op->texels, s->tap, s->words[0], count);
        return;
    }
    taps_8bit(s->u, s->v, op->columns, op->rows, s->tap, s->weights[0], s->weights[1], count);
    gather_pixel_taps(op->texels, op->columns, s->tap, s->words[0], s->words[1], s->words[2], s->words[3], count);
    bilinear_pixels(s->words[0], s->words[1], s->words[2], s->words[3], s->weights[0], s->weights[1], count);
}

#endif
