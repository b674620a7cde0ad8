// Rows of a strip before and after its operations: read the backdrop, write the result.

#ifndef ROWS_H
#define ROWS_H

#include "texels.h"

// Read a row of a backdrop, counted from its first pixel on.
static void read_backdrop(const struct backdrop *on, struct strip *s, ptrdiff_t row, int left, int count) {
    if (on->footage) {
        const uint8_t *pixels = on->footage + row * on->stride + 4 * (ptrdiff_t)left;
        for (int i = 0; i < count; i++) {
            for (int channel = 0; channel < 3; channel++) s->backdrop[channel][i] = on->linear[pixels[4 * i + channel]];
        }
    } else if (on->halves) {
        const uint16_t *pixels = (const uint16_t *)((const uint8_t *)on->halves + row * on->stride) + 4 * (ptrdiff_t)left;
        read_half_patterns(pixels, s->interleaved, 4 * count);
        deinterleave(s->interleaved, s->backdrop, count);
    } else {
        for (int channel = 0; channel < 3; channel++) fill(s->backdrop[channel], on->color[channel], count);
    }
}

INLINE uint32_t pixel_of(const uint8_t *levels, uint16_t red, uint16_t green, uint16_t blue) {
    return levels[red] | (uint32_t)levels[green] << 8 | (uint32_t)levels[blue] << 16 | 0xff000000u;
}

#ifdef __AVX2__
// Return 1 if eight patterns are equal, else 0.
INLINE int are_equal(const uint16_t *patterns) {
    __m128i all = _mm_loadu_si128((const __m128i *)patterns);
    return _mm_movemask_epi8(_mm_cmpeq_epi16(all, _mm_broadcastw_epi16(all))) == 0xffff;
}
#endif

static void display_encode_row(const uint8_t *restrict levels, const uint16_t *restrict red, const uint16_t *restrict green,
                               const uint16_t *restrict blue, uint8_t *restrict picture, int count) {
    int i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        __m256i known = _mm256_set1_epi32((int)pixel_of(levels, red[i], green[i], blue[i]));
        if (are_equal(red + i) & are_equal(green + i) & are_equal(blue + i)) {
            _mm256_storeu_si256((__m256i *)(picture + 4 * i), known);
            continue;
        }
        for (int j = i; j < i + 8; j++) {
            uint32_t pixel = pixel_of(levels, red[j], green[j], blue[j]);
            memcpy(picture + 4 * j, &pixel, sizeof pixel);
        }
    }
#endif
    for (; i < count; i++) {
        uint32_t pixel = pixel_of(levels, red[i], green[i], blue[i]);
        memcpy(picture + 4 * i, &pixel, sizeof pixel);
    }
}

// Display-encode columns [first, end) of a strip, or without levels write them as half floats. `shown`: pixel of column 0.
static void write_columns(struct strip *s, const uint8_t *restrict levels, uint8_t *restrict shown, int first, int end) {
    const uint16_t *red = s->patterns[0], *green = s->patterns[1], *blue = s->patterns[2];
    for (int channel = 0; channel < 3; channel++) {
        write_half_patterns(s->backdrop[channel] + first, s->patterns[channel], end - first);
    }
    if (levels) {
        display_encode_row(levels, red, green, blue, shown + 4 * (ptrdiff_t)first, end - first);
    } else {
        opaque_halves(red, green, blue, shown + 8 * (ptrdiff_t)first, end - first);
    }
}

// Return the end of the run of touched, or untouched, blocks that begins at a column.
INLINE int end_of_run(uint64_t touched, int first, int columns) {
    uint64_t others = (touched >> first / BLOCK & 1 ? ~touched : touched) >> first / BLOCK;
    int end = others ? first + BLOCK * __builtin_ctzll(others) : columns;
    return end < columns ? end : columns;
}

// Write a row of a strip over one colour, display-encoded as `pixel`, and restore that colour in the strip.
static void write_row_over_color(const float *color, uint32_t pixel, struct strip *s, const uint8_t *restrict levels,
                                 uint8_t *restrict shown, int columns) {
    for (int first = 0, end; first < columns; first = end) {
        end = end_of_run(s->touched, first, columns);
        if (s->touched >> first / BLOCK & 1) {
            write_columns(s, levels, shown, first, end);
            for (int channel = 0; channel < 3; channel++) fill(s->backdrop[channel] + first, color[channel], end - first);
        } else {
            for (int i = first; i < end; i++) memcpy(shown + 4 * (ptrdiff_t)i, &pixel, sizeof pixel);
        }
    }
    s->touched = 0;
}

#endif
