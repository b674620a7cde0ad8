// Texture filters at positions on a quad: bilinear in single floats, for floats and for bytes of an exact operation; the filters of
// coverage; and texels without a filter. Columns are filtered before rows.

#ifndef TEXELS_H
#define TEXELS_H

#include <stdlib.h>

#include "quad.h"
#include "texels_8bit.h"

// Map positions on a quad to the visible part of the texels. `is_limited`: repeat the edge of the quad outside it.
static void map_to_crop(float *restrict positions, int is_limited, float start, float extent, int count) {
    for (int i = 0; i < count; i++) {
        float position = is_limited ? clamp(positions[i], 0.0f, 1.0f) : positions[i];
        positions[i] = start + position * extent;
    }
}

// Separate the channels of RGBA texels.
static void deinterleave(const float *restrict texels, float (*restrict channels)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        channels[0][i] = texels[4 * i], channels[1][i] = texels[4 * i + 1];
        channels[2][i] = texels[4 * i + 2], channels[3][i] = texels[4 * i + 3];
    }
}

// The two texels along a side that a position lies between, and its distance from the first one, in texels. Indices stop at the
// edges.
struct tap_float {
    int32_t first, next;
    float fraction;
};

INLINE struct tap_float tap_float(float position, int32_t count) {
    float at = position * (float)count - 0.5f, before = floorf(at);
    int32_t texel = (int32_t)clamp(before, -1.0f, (float)count);
    return (struct tap_float){clamp_index(texel, count), clamp_index(texel + 1, count), at - before};
}

static void taps_float(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict taps,
                       int32_t *restrict taps_right, int32_t *restrict taps_below, float *restrict fractions_x,
                       float *restrict fractions_y, int count) {
    for (int i = 0; i < count; i++) {
        struct tap_float column = tap_float(u[i], columns), line = tap_float(v[i], rows);
        fractions_x[i] = column.fraction, fractions_y[i] = line.fraction;
        taps[i] = line.first * columns + column.first;
        taps_right[i] = column.next - column.first;
        taps_below[i] = line.next > line.first ? columns : 0;
    }
}

INLINE float fused_lerp(float one, float other, float fraction) { return fmaf(fraction, other - one, one); }

INLINE void bilinear_texel(const float *one, const float *two, const float *three, const float *four, float fraction_x,
                           float fraction_y, float *restrict found) {
    for (int channel = 0; channel < 4; channel++) {
        float upper = fused_lerp(one[channel], two[channel], fraction_x),
              lower = fused_lerp(three[channel], four[channel], fraction_x);
        found[channel] = fused_lerp(upper, lower, fraction_y);
    }
}

INLINE void read_half_texel(const uint16_t *restrict halves, float *restrict texel) {
#ifdef __F16C__
    _mm_storeu_ps(texel, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)halves)));
#else
    for (int channel = 0; channel < 4; channel++) texel[channel] = float_of_half(halves[channel]);
#endif
}

// ------------------------------------------------- bytes in single floats: `between_texels` of shaders/include/texels.glsl

INLINE float lerp(float one, float other, float fraction) { return one + fraction * (other - one); }

INLINE float channel_of(uint32_t pixel, int shift) { return (float)(int32_t)(pixel >> shift & 255) * (1.0f / 255.0f); }

// Interpolate one channel between the two texels of each column.
static void lerp_columns(const uint32_t *restrict one, const uint32_t *restrict other, int shift, const float *restrict fractions_x,
                         float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        found[i] = lerp(channel_of(one[i], shift), channel_of(other[i], shift), fractions_x[i]);
    }
}

// Interpolate one channel between the four texels around each position, which `found` holds row by row.
static void bilinear_channel(const uint32_t (*restrict found)[CHUNK], int shift, const float *restrict fractions_x,
                             const float *restrict fractions_y, float *restrict texels, int count) {
    for (int i = 0; i < count; i++) {
        float upper = lerp(channel_of(found[0][i], shift), channel_of(found[1][i], shift), fractions_x[i]);
        float lower = lerp(channel_of(found[2][i], shift), channel_of(found[3][i], shift), fractions_x[i]);
        texels[i] = lerp(upper, lower, fractions_y[i]);
    }
}

static void lerp_rows(const float *restrict upper, const float *restrict lower, float fraction, float *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = lerp(upper[i], lower[i], fraction);
}

// Gather the four texels around each position, row by row.
static void gather_codes_float(const uint8_t *restrict texels, const int32_t *restrict taps, const int32_t *restrict taps_right,
                               const int32_t *restrict taps_below, uint32_t (*restrict found)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        const uint8_t *upper = texels + taps[i], *lower = upper + taps_below[i];
        found[0][i] = upper[0], found[1][i] = upper[taps_right[i]], found[2][i] = lower[0], found[3][i] = lower[taps_right[i]];
    }
}

static void gather_pixels_float(const uint32_t *restrict texels, const int32_t *restrict taps, const int32_t *restrict taps_right,
                                const int32_t *restrict taps_below, uint32_t (*restrict found)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t *upper = texels + taps[i], *lower = upper + taps_below[i];
        found[0][i] = upper[0], found[1][i] = upper[taps_right[i]], found[2][i] = lower[0], found[3][i] = lower[taps_right[i]];
    }
}

// Write the alpha of a colour of alpha `full` from coverage in floats.
static void alpha_of_coverage(const float *restrict coverage, float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        float found = full * coverage[i];
        alpha[i] = select_float(found < 1.0f / 255.0f, 0.0f, found) * opacity;
    }
}

// Channels of the texels of an operation.
static int channels_of(const struct draw_op *op) { return op->kind == COVERAGE ? 1 : 4; }

// Filter bytes at s->u and s->v in single floats into s->texels.
static void sample_bytes_in_floats(const struct draw_op *op, struct strip *s, int count) {
    taps_float(s->u, s->v, op->columns, op->rows, s->tap, s->tap_right, s->tap_below, s->fraction_x, s->fraction_y, count);
    if (op->kind == COVERAGE) {
        gather_codes_float(op->texels, s->tap, s->tap_right, s->tap_below, s->words, count);
    } else {
        gather_pixels_float(op->texels, s->tap, s->tap_right, s->tap_below, s->words, count);
    }
    for (int channel = 0; channel < channels_of(op); channel++) {
        bilinear_channel(s->words, 8 * channel, s->fraction_x, s->fraction_y, s->texels[channel], count);
    }
}

// Filter COVERAGE at s->u and s->v, and write the alpha of its colour to s->alpha.
static void sample_coverage(const struct draw_op *op, struct strip *s, int count) {
    if (op->is_nearest) {
        nearest_texels(s->u, s->v, op->columns, op->rows, s->tap, count);
        gather_alphas(op->texels, s->tap, op->color[3], op->opacity, s->alpha, count);
        return;
    }
    if (op->is_exact) {
        sample_bytes_in_floats(op, s, count);
        alpha_of_coverage(s->texels[0], op->color[3], op->opacity, s->alpha, count);
        return;
    }
    gather_codes_around(op->texels, op->columns, op->rows, s, count);
    bilinear_alphas(s->words[0], s->weights[0], s->weights[1], op->color[3], op->opacity, s->alpha, count);
}

#ifdef __AVX2__
// Return two texels as eight floats.
INLINE __m256 read_two_texels(const void *restrict texels, int is_half, ptrdiff_t one, ptrdiff_t other) {
    if (is_half) {
        const uint16_t *halves = texels;
        __m128i found = _mm_loadl_epi64((const __m128i *)(halves + 4 * one));
        __m128i next = _mm_loadl_epi64((const __m128i *)(halves + 4 * other));
        return _mm256_cvtph_ps(_mm_unpacklo_epi64(found, next));
    }
    const float *numbers = texels;
    return _mm256_set_m128(_mm_loadu_ps(numbers + 4 * other), _mm_loadu_ps(numbers + 4 * one));
}

// Repeat one number of each half four times.
INLINE __m256 broadcast_in_fours(__m256 numbers, int which) { return _mm256_permutevar_ps(numbers, _mm256_set1_epi32(which)); }

INLINE __m256 fused_lerp_8(__m256 one, __m256 other, __m256 fraction) {
    return _mm256_fmadd_ps(fraction, _mm256_sub_ps(other, one), one);
}

// Like `bilinear_texel`, for eight positions, channel by channel. `is_inside`: no position lies beyond an edge.
INLINE void sample_8_texels(const void *restrict texels, int is_half, int32_t columns, int is_inside, const struct strip *s, int at,
                            float (*restrict channels)[CHUNK]) {
    const int32_t *first = s->tap + at, *right = s->tap_right + at, *below = s->tap_below + at;
    __m256 fraction_x = _mm256_loadu_ps(s->fraction_x + at), fraction_y = _mm256_loadu_ps(s->fraction_y + at), found[4];
    ptrdiff_t bytes = is_half ? 8 : 16;
    for (int i = 0; i < 4; i++) {  // positions i and i + 4
        ptrdiff_t one = first[i], two = first[i + 4];
        ptrdiff_t one_right = is_inside ? 1 : right[i], two_right = is_inside ? 1 : right[i + 4];
        ptrdiff_t one_below = one + (is_inside ? columns : below[i]), two_below = two + (is_inside ? columns : below[i + 4]);
        if (i == 0) {  // fetch the texels that the next row of the frame reads
            __builtin_prefetch((const char *)texels + bytes * (2 * one_below - one));
            __builtin_prefetch((const char *)texels + bytes * (2 * two_below - two));
        }
        __m256 share = broadcast_in_fours(fraction_x, i);
        __m256 upper = fused_lerp_8(read_two_texels(texels, is_half, one, two),
                                    read_two_texels(texels, is_half, one + one_right, two + two_right), share);
        __m256 lower = fused_lerp_8(read_two_texels(texels, is_half, one_below, two_below),
                                    read_two_texels(texels, is_half, one_below + one_right, two_below + two_right), share);
        found[i] = fused_lerp_8(upper, lower, broadcast_in_fours(fraction_y, i));
    }
    __m256 red_green[2] = {_mm256_unpacklo_ps(found[0], found[1]), _mm256_unpacklo_ps(found[2], found[3])};
    __m256 blue_alpha[2] = {_mm256_unpackhi_ps(found[0], found[1]), _mm256_unpackhi_ps(found[2], found[3])};
    _mm256_storeu_ps(channels[0] + at, _mm256_shuffle_ps(red_green[0], red_green[1], 0x44));
    _mm256_storeu_ps(channels[1] + at, _mm256_shuffle_ps(red_green[0], red_green[1], 0xee));
    _mm256_storeu_ps(channels[2] + at, _mm256_shuffle_ps(blue_alpha[0], blue_alpha[1], 0x44));
    _mm256_storeu_ps(channels[3] + at, _mm256_shuffle_ps(blue_alpha[0], blue_alpha[1], 0xee));
}

// Return 1 if none of eight positions lies beyond an edge.
INLINE int are_inside(const struct strip *s, int at, int32_t columns) {
    __m256i right = _mm256_loadu_si256((const __m256i *)(s->tap_right + at));
    __m256i below = _mm256_loadu_si256((const __m256i *)(s->tap_below + at));
    __m256i are =
        _mm256_and_si256(_mm256_cmpeq_epi32(right, _mm256_set1_epi32(1)), _mm256_cmpeq_epi32(below, _mm256_set1_epi32(columns)));
    return _mm256_movemask_epi8(are) == -1;
}

// Filter positions in vectors of eight. Returns the number of filtered positions; fewer than eight remain.
INLINE int sample_texels_by_8(const void *restrict texels, int is_half, int32_t columns, struct strip *s, int count) {
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        if (are_inside(s, i, columns)) {
            sample_8_texels(texels, is_half, columns, 1, s, i, s->texels);
        } else {
            sample_8_texels(texels, is_half, columns, 0, s, i, s->texels);
        }
    }
    return i;
}
#endif

// Filter RGBA of floats or half floats at s->u and s->v into s->texels.
static void sample_texels(const struct draw_op *op, struct strip *s, int count) {
    int done = 0;
    taps_float(s->u, s->v, op->columns, op->rows, s->tap, s->tap_right, s->tap_below, s->fraction_x, s->fraction_y, count);
#ifdef __AVX2__
    done = op->kind == HALF_CELLS ? sample_texels_by_8(op->texels, 1, op->columns, s, count)
                                  : sample_texels_by_8(op->texels, 0, op->columns, s, count);
#endif
    for (int i = done; i < count; i++) {
        float around[4][4], found[4];
        ptrdiff_t one = s->tap[i], three = one + s->tap_below[i],
                  all[4] = {one, one + s->tap_right[i], three, three + s->tap_right[i]};
        for (int corner = 0; corner < 4; corner++) {
            if (op->kind == HALF_CELLS) {
                read_half_texel((const uint16_t *)op->texels + 4 * all[corner], around[corner]);
            } else {
                memcpy(around[corner], (const float *)op->texels + 4 * all[corner], sizeof around[corner]);
            }
        }
        bilinear_texel(around[0], around[1], around[2], around[3], s->fraction_x[i], s->fraction_y[i], found);
        for (int channel = 0; channel < 4; channel++) s->texels[channel][i] = found[channel];
    }
}

// Read texels that lie on the frame's own pixels, without a filter. Pixels outside repeat the edge.
static void read_frame_pixels(const struct draw_op *op, struct strip *s, int row, int first, int count, float (*texels)[CHUNK]) {
    int32_t line = clamp_index(row - (int32_t)op->region.top, op->rows), column = first - (int32_t)op->region.left;
    const uint16_t *halves = (const uint16_t *)op->texels + 4 * (ptrdiff_t)line * op->columns;
    if (column >= 0 && column + count <= op->columns) {
        read_half_patterns(halves + 4 * (ptrdiff_t)column, s->interleaved, 4 * count);
    } else {
        for (int i = 0; i < count; i++) {
            read_half_patterns(halves + 4 * (ptrdiff_t)clamp_index(column + i, op->columns), s->interleaved + 4 * i, 4);
        }
    }
    deinterleave(s->interleaved, texels, count);
}

#endif
