// Texture filter of pictures, coverage, flattened planes and light at places between their texels: in 256ths of a texel for bytes, in
// single floats for floats and for bytes of an exact operation; columns first.

#ifndef TEXELS_H
#define TEXELS_H

#include <stdlib.h>

#include "places.h"

// Places on a quad to places on the part of the texels that it shows. `is_limited`: beyond the quad the edge is repeated.
static void part_shown(float *restrict numbers, int is_limited, float from, float part, int count) {
    for (int i = 0; i < count; i++) {
        float place = is_limited ? clamped(numbers[i], 0.0f, 1.0f) : numbers[i];
        numbers[i] = from + place * part;
    }
}

// The nearest texel of each place.
INLINE int32_t nearest_of(float place, int32_t count) {
    return within((int32_t)clamped(place * (float)count, 0.0f, (float)(count - 1)), count);
}

static void nearest(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict first,
                    int count) {
    for (int i = 0; i < count; i++) first[i] = nearest_of(v[i], rows) * columns + nearest_of(u[i], columns);
}

// Taps of a filter of 8 bits: places in 256ths of a texel, rounded to the nearest, ties to even.
INLINE int32_t part_of(float place, float parts) {
    float at = clamped(place * parts, -256.0f, parts + 256.0f);
    return (int32_t)(bits_of(at + 12582912.0f) - 0x4b400000u) - 128;
}

// The first of two texels along a side that a place lies between, and the share of the second one in 256 parts. Beyond an edge
// all of the share is the last texel's, so that the second one is always beside the first: a side has two texels at least.
struct part {
    int32_t first;
    uint32_t share;
};

INLINE struct part part_between(float place, int32_t count) {
    int32_t part = part_of(place, (float)count * 256.0f), texel = part >> 8, first = within(texel, count - 1);
    uint32_t share = texel > first ? 256 : texel < first ? 0 : (uint32_t)part & 255;
    return (struct part){first, share};
}

static void parts_of(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict first,
                     uint32_t *restrict across, uint32_t *restrict down, int count) {
    for (int i = 0; i < count; i++) {
        struct part column = part_between(u[i], columns), line = part_between(v[i], rows);
        first[i] = line.first * columns + column.first;
        across[i] = column.share, down[i] = line.share;
    }
}

INLINE uint32_t mixed(uint32_t one, uint32_t other, uint32_t share) {
    return (one * (256 - share) + other * share + 128) >> 8;
}

// Two numbers of 8 bits in the halves of a word.
INLINE uint32_t both_mixed(uint32_t one, uint32_t other, uint32_t share) {
    return (one * (256 - share) + other * share + 0x800080u) >> 8 & 0xff00ffu;
}

// The four texels around each place: two in the lower half of a word, two in the upper one.
static void gathered_codes(const uint8_t *restrict texels, int32_t columns, const int32_t *restrict first,
                           uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        uint16_t upper, lower;
        __builtin_prefetch(texels + first[i] + 2 * (ptrdiff_t)columns);
        memcpy(&upper, texels + first[i], sizeof upper);
        memcpy(&lower, texels + first[i] + columns, sizeof lower);
        found[i] = upper | (uint32_t)lower << 16;
    }
}

// One code of the four.
INLINE uint32_t code_of(uint32_t four, uint32_t across, uint32_t down) {
    uint32_t both = both_mixed(four & 0xff00ffu, four >> 8 & 0xff00ffu, across);
    return mixed(both & 255, both >> 16, down);
}

// The alpha of a colour whose coverage is a code of 8 bits.
INLINE float alpha_of(uint32_t code, float full, float opacity) {
    float found = full * ((float)(int32_t)code * (1.0f / 255.0f));
    return picked(found < 1.0f / 255.0f, 0.0f, found) * opacity;
}

static void filtered_codes(const uint32_t *restrict found, const uint32_t *restrict across, const uint32_t *restrict down,
                           float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of(code_of(found[i], across[i], down[i]), full, opacity);
}

static void taken_bytes(const uint8_t *restrict texels, const int32_t *restrict first, uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = texels[first[i]];
}

static void taken_codes(const uint8_t *restrict texels, const int32_t *restrict first, float full, float opacity,
                        float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of(texels[first[i]], full, opacity);
}

// The four codes around each place of r->u and r->v: r->found[0], and how far the place is from the first one: r->shares.
static void found_codes(const uint8_t *texels, int32_t columns, int32_t rows, struct row *r, int count) {
    parts_of(r->u, r->v, columns, rows, r->first, r->shares[0], r->shares[1], count);
    gathered_codes(texels, columns, r->first, r->found[0], count);
}

static void masked(const uint32_t *restrict found, const uint32_t *restrict across, const uint32_t *restrict down,
                   float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] *= (float)(int32_t)code_of(found[i], across[i], down[i]) * (1.0f / 255.0f);
}

static void gathered_pixels(const uint32_t *restrict texels, int32_t columns, const int32_t *restrict first,
                            uint32_t *restrict one, uint32_t *restrict two, uint32_t *restrict three, uint32_t *restrict four,
                            int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t *upper = texels + first[i], *lower = upper + columns;
        one[i] = upper[0], two[i] = upper[1], three[i] = lower[0], four[i] = lower[1];
    }
}

static void taken_pixels(const uint32_t *restrict texels, const int32_t *restrict first, uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = texels[first[i]];
}

INLINE uint32_t pixels_mixed(uint32_t one, uint32_t other, uint32_t share) {
    uint32_t even = both_mixed(one & 0xff00ffu, other & 0xff00ffu, share);
    return even | both_mixed(one >> 8 & 0xff00ffu, other >> 8 & 0xff00ffu, share) << 8;
}

static void filtered_pixels(uint32_t *restrict pixels, const uint32_t *restrict right, const uint32_t *restrict lower,
                            const uint32_t *restrict last, const uint32_t *restrict across, const uint32_t *restrict down,
                            int count) {
    for (int i = 0; i < count; i++) {
        uint32_t upper = pixels_mixed(pixels[i], right[i], across[i]);
        pixels[i] = pixels_mixed(upper, pixels_mixed(lower[i], last[i], across[i]), down[i]);
    }
}

// Pixels of 8 bits between the texels of r->u and r->v: r->found[0].
static void found_pixels(const struct draw_op *of, struct row *r, int count) {
    if (of->is_nearest) {
        nearest(r->u, r->v, of->columns, of->rows, r->first, count);
        taken_pixels(of->texels, r->first, r->found[0], count);
        return;
    }
    parts_of(r->u, r->v, of->columns, of->rows, r->first, r->shares[0], r->shares[1], count);
    gathered_pixels(of->texels, of->columns, r->first, r->found[0], r->found[1], r->found[2], r->found[3], count);
    filtered_pixels(r->found[0], r->found[1], r->found[2], r->found[3], r->shares[0], r->shares[1], count);
}

// Texels one after the other, channel by channel.
static void apart(const float *restrict texels, float (*restrict channels)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        channels[0][i] = texels[4 * i], channels[1][i] = texels[4 * i + 1];
        channels[2][i] = texels[4 * i + 2], channels[3][i] = texels[4 * i + 3];
    }
}

// Between which texels along a side a place lies, and how far from the first one.
struct corner {
    int32_t first, next;
    float share;
};

INLINE struct corner corner_of(float place, int32_t count) {
    float at = place * (float)count - 0.5f, before = floorf(at);
    int32_t texel = (int32_t)clamped(before, -1.0f, (float)count);
    return (struct corner){within(texel, count), within(texel + 1, count), at - before};
}

static void corners_of(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows, int32_t *restrict first,
                       int32_t *restrict right, int32_t *restrict below, float *restrict across, float *restrict down,
                       int count) {
    for (int i = 0; i < count; i++) {
        struct corner column = corner_of(u[i], columns), line = corner_of(v[i], rows);
        across[i] = column.share, down[i] = line.share;
        first[i] = line.first * columns + column.first;
        right[i] = column.next - column.first;
        below[i] = line.next > line.first ? columns : 0;
    }
}

INLINE float between_two(float one, float other, float share) { return fmaf(share, other - one, one); }

INLINE void between_four(const float *one, const float *two, const float *three, const float *four, float across, float down,
                         float *restrict found) {
    for (int channel = 0; channel < 4; channel++) {
        float upper = between_two(one[channel], two[channel], across), lower = between_two(three[channel], four[channel], across);
        found[channel] = between_two(upper, lower, down);
    }
}

INLINE void texel_of(const uint16_t *restrict halves, float *restrict texel) {
#ifdef __F16C__
    _mm_storeu_ps(texel, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)halves)));
#else
    for (int channel = 0; channel < 4; channel++) texel[channel] = half_of(halves[channel]);
#endif
}

// ------------------------------------------------- bytes in single floats: `between_texels` of shaders/include/texels.glsl

INLINE float lerp(float one, float other, float share) { return one + share * (other - one); }

INLINE float channel_of(uint32_t pixel, int shift) { return (float)(int32_t)(pixel >> shift & 255) * (1.0f / 255.0f); }

// One channel of pixels between the two texels of each column.
static void exact_across(const uint32_t *restrict one, const uint32_t *restrict other, int shift,
                         const float *restrict across, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        found[i] = lerp(channel_of(one[i], shift), channel_of(other[i], shift), across[i]);
    }
}

// The same between the four texels around each place, which `found` holds row by row.
static void exact_channel(const uint32_t (*restrict found)[CHUNK], int shift, const float *restrict across,
                          const float *restrict down, float *restrict texels, int count) {
    for (int i = 0; i < count; i++) {
        float upper = lerp(channel_of(found[0][i], shift), channel_of(found[1][i], shift), across[i]);
        float lower = lerp(channel_of(found[2][i], shift), channel_of(found[3][i], shift), across[i]);
        texels[i] = lerp(upper, lower, down[i]);
    }
}

static void exact_down(const float *restrict upper, const float *restrict lower, float share, float *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = lerp(upper[i], lower[i], share);
}

// The four texels around each place, row by row.
static void corner_codes(const uint8_t *restrict texels, const int32_t *restrict first, const int32_t *restrict right,
                         const int32_t *restrict below, uint32_t (*restrict found)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        const uint8_t *upper = texels + first[i], *lower = upper + below[i];
        found[0][i] = upper[0], found[1][i] = upper[right[i]], found[2][i] = lower[0], found[3][i] = lower[right[i]];
    }
}

static void corner_pixels(const uint32_t *restrict texels, const int32_t *restrict first, const int32_t *restrict right,
                          const int32_t *restrict below, uint32_t (*restrict found)[CHUNK], int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t *upper = texels + first[i], *lower = upper + below[i];
        found[0][i] = upper[0], found[1][i] = upper[right[i]], found[2][i] = lower[0], found[3][i] = lower[right[i]];
    }
}

// Alpha of one colour whose coverage is in floats.
static void exact_alpha(const float *restrict covered, float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        float found = full * covered[i];
        alpha[i] = picked(found < 1.0f / 255.0f, 0.0f, found) * opacity;
    }
}

// Channels of the texels of an operation.
static int channels_of(const struct draw_op *of) { return of->kind == COVERAGE ? 1 : 4; }

// Bytes at r->u and r->v: r->texels.
static void found_exact(const struct draw_op *of, struct row *r, int count) {
    corners_of(r->u, r->v, of->columns, of->rows, r->first, r->right, r->below, r->across, r->down, count);
    if (of->kind == COVERAGE) {
        corner_codes(of->texels, r->first, r->right, r->below, r->found, count);
    } else {
        corner_pixels(of->texels, r->first, r->right, r->below, r->found, count);
    }
    for (int channel = 0; channel < channels_of(of); channel++) {
        exact_channel(r->found, 8 * channel, r->across, r->down, r->texels[channel], count);
    }
}

// The alpha of one colour whose coverage is a texture.
static void coverage_alpha(const struct draw_op *of, struct row *r, int count) {
    if (of->is_nearest) {
        nearest(r->u, r->v, of->columns, of->rows, r->first, count);
        taken_codes(of->texels, r->first, of->color[3], of->opacity, r->alpha, count);
        return;
    }
    if (of->is_exact) {
        found_exact(of, r, count);
        exact_alpha(r->texels[0], of->color[3], of->opacity, r->alpha, count);
        return;
    }
    found_codes(of->texels, of->columns, of->rows, r, count);
    filtered_codes(r->found[0], r->shares[0], r->shares[1], of->color[3], of->opacity, r->alpha, count);
}

#ifdef __AVX2__
// Two texels side by side, in floats.
INLINE __m256 both_texels(const void *restrict texels, int is_half, ptrdiff_t one, ptrdiff_t other) {
    if (is_half) {
        const uint16_t *halves = texels;
        __m128i found = _mm_loadl_epi64((const __m128i *)(halves + 4 * one));
        __m128i next = _mm_loadl_epi64((const __m128i *)(halves + 4 * other));
        return _mm256_cvtph_ps(_mm_unpacklo_epi64(found, next));
    }
    const float *numbers = texels;
    return _mm256_set_m128(_mm_loadu_ps(numbers + 4 * other), _mm_loadu_ps(numbers + 4 * one));
}

// One number of each four, four times.
INLINE __m256 spread_to_four(__m256 numbers, int which) { return _mm256_permutevar_ps(numbers, _mm256_set1_epi32(which)); }

INLINE __m256 eight_between(__m256 one, __m256 other, __m256 share) {
    return _mm256_fmadd_ps(share, _mm256_sub_ps(other, one), one);
}

// `between_four` for eight places, channel by channel. `is_inside`: none of them lies beyond an edge.
INLINE void eight_found(const void *restrict texels, int is_half, int32_t columns, int is_inside, const struct row *r, int at,
                        float (*restrict channels)[CHUNK]) {
    const int32_t *first = r->first + at, *right = r->right + at, *below = r->below + at;
    __m256 across = _mm256_loadu_ps(r->across + at), down = _mm256_loadu_ps(r->down + at), found[4];
    ptrdiff_t bytes = is_half ? 8 : 16;
    for (int i = 0; i < 4; i++) {  // places i and i + 4
        ptrdiff_t one = first[i], two = first[i + 4];
        ptrdiff_t one_right = is_inside ? 1 : right[i], two_right = is_inside ? 1 : right[i + 4];
        ptrdiff_t one_below = one + (is_inside ? columns : below[i]), two_below = two + (is_inside ? columns : below[i + 4]);
        if (i == 0) {  // the next row of the frame reads further rows: their texels come meanwhile
            __builtin_prefetch((const char *)texels + bytes * (2 * one_below - one));
            __builtin_prefetch((const char *)texels + bytes * (2 * two_below - two));
        }
        __m256 share = spread_to_four(across, i);
        __m256 upper = eight_between(both_texels(texels, is_half, one, two),
                                     both_texels(texels, is_half, one + one_right, two + two_right), share);
        __m256 lower = eight_between(both_texels(texels, is_half, one_below, two_below),
                                     both_texels(texels, is_half, one_below + one_right, two_below + two_right), share);
        found[i] = eight_between(upper, lower, spread_to_four(down, i));
    }
    __m256 red_green[2] = {_mm256_unpacklo_ps(found[0], found[1]), _mm256_unpacklo_ps(found[2], found[3])};
    __m256 blue_alpha[2] = {_mm256_unpackhi_ps(found[0], found[1]), _mm256_unpackhi_ps(found[2], found[3])};
    _mm256_storeu_ps(channels[0] + at, _mm256_shuffle_ps(red_green[0], red_green[1], 0x44));
    _mm256_storeu_ps(channels[1] + at, _mm256_shuffle_ps(red_green[0], red_green[1], 0xee));
    _mm256_storeu_ps(channels[2] + at, _mm256_shuffle_ps(blue_alpha[0], blue_alpha[1], 0x44));
    _mm256_storeu_ps(channels[3] + at, _mm256_shuffle_ps(blue_alpha[0], blue_alpha[1], 0xee));
}

// True if none of eight places lies beyond an edge.
INLINE int are_inside(const struct row *r, int at, int32_t columns) {
    __m256i right = _mm256_loadu_si256((const __m256i *)(r->right + at));
    __m256i below = _mm256_loadu_si256((const __m256i *)(r->below + at));
    __m256i are = _mm256_and_si256(_mm256_cmpeq_epi32(right, _mm256_set1_epi32(1)),
                                   _mm256_cmpeq_epi32(below, _mm256_set1_epi32(columns)));
    return _mm256_movemask_epi8(are) == -1;
}

// Texels of as many places as come in eights. Returns how many.
INLINE int eights_found(const void *restrict texels, int is_half, int32_t columns, struct row *r, int count) {
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        if (are_inside(r, i, columns)) {
            eight_found(texels, is_half, columns, 1, r, i, r->texels);
        } else {
            eight_found(texels, is_half, columns, 0, r, i, r->texels);
        }
    }
    return i;
}
#endif

// RGBA of floats or half floats at r->u and r->v: r->texels.
static void found_numbers(const struct draw_op *of, struct row *r, int count) {
    int done = 0;
    corners_of(r->u, r->v, of->columns, of->rows, r->first, r->right, r->below, r->across, r->down, count);
#ifdef __AVX2__
    done = of->kind == HALF_CELLS ? eights_found(of->texels, 1, of->columns, r, count)
                                  : eights_found(of->texels, 0, of->columns, r, count);
#endif
    for (int i = done; i < count; i++) {
        float around[4][4], found[4];
        ptrdiff_t one = r->first[i], three = one + r->below[i], all[4] = {one, one + r->right[i], three, three + r->right[i]};
        for (int corner = 0; corner < 4; corner++) {
            if (of->kind == HALF_CELLS) {
                texel_of((const uint16_t *)of->texels + 4 * all[corner], around[corner]);
            } else {
                memcpy(around[corner], (const float *)of->texels + 4 * all[corner], sizeof around[corner]);
            }
        }
        between_four(around[0], around[1], around[2], around[3], r->across[i], r->down[i], found);
        for (int channel = 0; channel < 4; channel++) r->texels[channel][i] = found[channel];
    }
}

// Texels that are the frame's own pixels; beyond the edge the last one is repeated.
static void own_pixels(const struct draw_op *of, struct row *r, int row, int first, int count, float (*texels)[CHUNK]) {
    int32_t line = within(row - (int32_t)of->own[1], of->rows), column = first - (int32_t)of->own[0];
    const uint16_t *halves = (const uint16_t *)of->texels + 4 * (ptrdiff_t)line * of->columns;
    if (column >= 0 && column + count <= of->columns) {
        numbers_of(halves + 4 * (ptrdiff_t)column, r->beside, 4 * count);
    } else {
        for (int i = 0; i < count; i++) {
            numbers_of(halves + 4 * (ptrdiff_t)within(column + i, of->columns), r->beside + 4 * i, 4);
        }
    }
    apart(r->beside, texels, count);
}

#endif
