// Cache of filtered rows of texels, for content that is neither rotated nor in perspective. All rows of the frame then have the
// same taps across. A row of texels is filtered across once, and cached for the rows of the frame that lie beside it.

#ifndef ROW_CACHE_H
#define ROW_CACHE_H

#include "texels.h"

struct row_cache {
    const struct draw_op *op;
    int32_t first_column, column_count;        // of the frame
    int32_t lines[2];                          // rows of texels that are cached, -1 for none
    int32_t visible_first[2], visible_end[2];  // visible (not transparent) columns of each cached row
    int32_t upper, lower;                      // indices, 0 or 1, of the cached rows above and below the frame's row
    struct tap_8bit row_tap_8bit;              // the taps of the frame's row, with the weight in 256ths,
    struct tap_float row_tap;                  // or as a float
    int32_t *taps, *next_taps;                 // for each column: its two texels; those of bytes are neighbours
    float *fractions;                          // and its distance from the first one, in texels,
    uint32_t *weights;                         // or in 256ths
    void *filtered[2];                         // the cached rows: codes, pixels, or floats channel by channel
};

// Return 1 if rows of texels are parallel to the rows of the frame.
static int has_upright_texels(const struct draw_op *op) {
    if (op->kind == GLOW) return !op->is_nearest;
    int has_texels = op->kind == COVERAGE || op->kind == IMAGE || op->kind == CELLS || op->kind == HALF_CELLS;
    return has_texels && !op->is_projective && op->to_unit[1] == 0.0f && op->to_unit[3] == 0.0f;
}

// Return the position of a column, or a row, of the frame on the cells of a glow, 0 to 1.
INLINE float cell_position(int pixel, float cells_per_px, float first, float cells) {
    return (((float)pixel + 0.5f) * cells_per_px - first) / cells;
}

static void cell_positions(const struct draw_op *op, int row, int first, int count, float *restrict u, float *restrict v) {
    float cells_per_px = op->cells_per_px, left = op->region.left, cells = op->region.width,
          down = cell_position(row, cells_per_px, op->region.top, op->region.height);
    for (int i = 0; i < count; i++) {
        u[i] = cell_position(first + i, cells_per_px, left, cells);
        v[i] = down;
    }
}

// Write the positions of pixel centres on the texels of a draw operation, 0 to 1, to s->u and s->v.
static void texel_positions(const struct draw_op *op, struct strip *s, int row, int first, int count) {
    if (op->kind == GLOW) {
        cell_positions(op, row, first, count, s->u, s->v);
        return;
    }
    (op->is_projective ? projective_positions : affine_positions)(op->to_unit, row, first, count, s->u, s->v);
    int is_limited = op->kind == CELLS || op->kind == HALF_CELLS;
    map_to_crop(s->u, is_limited, op->crop.left, op->crop.width, count);
    map_to_crop(s->v, is_limited, op->crop.top, op->crop.height, count);
}

static void column_taps_8bit(const float *restrict u, int32_t columns, int32_t *restrict taps, uint32_t *restrict weights,
                             int count) {
    for (int i = 0; i < count; i++) {
        struct tap_8bit tap = tap_8bit(u[i], columns);
        taps[i] = tap.first, weights[i] = tap.weight;
    }
}

static void nearest_column_texels(const float *restrict u, int32_t columns, int32_t *restrict taps, int count) {
    for (int i = 0; i < count; i++) taps[i] = nearest_texel(u[i], columns);
}

static void column_taps_float(const float *restrict u, int32_t columns, int32_t *restrict taps, int32_t *restrict next_taps,
                              float *restrict fractions, int count) {
    for (int i = 0; i < count; i++) {
        struct tap_float tap = tap_float(u[i], columns);
        taps[i] = tap.first, next_taps[i] = tap.next, fractions[i] = tap.fraction;
    }
}

static int is_filtered_in_floats(const struct draw_op *op) { return op->is_exact || (op->kind != COVERAGE && op->kind != IMAGE); }

// Begin the cache of columns [from, from + count) of a strip, at most CHUNK. If memory runs out, `taps` stays 0 and nothing is
// cached.
static void begin_row_cache(struct row_cache *cache, const struct draw_op *op, struct strip *s, int from, int count) {
    int is_numbers = is_filtered_in_floats(op);
    size_t column = 3 * sizeof(int32_t), row = (is_numbers ? 4 : 1) * sizeof(float);
    cache->taps = malloc((size_t)count * (column + 2 * row));
    if (!cache->taps) return;
    cache->op = op, cache->first_column = from, cache->column_count = count, cache->lines[0] = cache->lines[1] = -1;
    cache->next_taps = cache->taps + count;
    cache->fractions = (float *)(cache->next_taps + count), cache->weights = (uint32_t *)(cache->next_taps + count);
    cache->filtered[0] = cache->weights + count, cache->filtered[1] = (char *)cache->filtered[0] + (size_t)count * row;
    texel_positions(op, s, op->top, from, count);
    if (op->is_nearest) {
        nearest_column_texels(s->u, op->columns, cache->taps, count);
    } else if (is_numbers) {
        column_taps_float(s->u, op->columns, cache->taps, cache->next_taps, cache->fractions, count);
    } else {
        column_taps_8bit(s->u, op->columns, cache->taps, cache->weights, count);
    }
}

static void filter_code_row(const uint8_t *restrict texels, const int32_t *restrict taps, const uint32_t *restrict weights,
                            uint16_t *restrict pairs, uint32_t *restrict codes, int count) {
    for (int i = 0; i < count; i++) memcpy(pairs + i, texels + taps[i], sizeof *pairs);
    for (int i = 0; i < count; i++) codes[i] = lerp_8bit(pairs[i] & 255, pairs[i] >> 8, weights[i]);
}

static void filter_pixel_row(const uint32_t *restrict texels, const int32_t *restrict taps, const uint32_t *restrict weights,
                             uint32_t *restrict one, uint32_t *restrict two, uint32_t *restrict pixels, int count) {
    for (int i = 0; i < count; i++) one[i] = texels[taps[i]], two[i] = texels[taps[i] + 1];
    for (int i = 0; i < count; i++) pixels[i] = lerp_pixel(one[i], two[i], weights[i]);
}

static void filter_float_row(const float *restrict texels, const int32_t *restrict taps, const int32_t *restrict next_taps,
                             const float *restrict fractions, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        const float *one = texels + 4 * taps[i], *two = texels + 4 * next_taps[i];
        for (int channel = 0; channel < 4; channel++) {
            found[4 * i + channel] = fused_lerp(one[channel], two[channel], fractions[i]);
        }
    }
}

static void filter_half_row(const uint16_t *restrict texels, const int32_t *restrict taps, const int32_t *restrict next_taps,
                            const float *restrict fractions, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        float one[4], two[4];
        read_half_texel(texels + 4 * taps[i], one);
        read_half_texel(texels + 4 * next_taps[i], two);
        for (int channel = 0; channel < 4; channel++) {
            found[4 * i + channel] = fused_lerp(one[channel], two[channel], fractions[i]);
        }
    }
}

// Filter a row of bytes in single floats, channel by channel.
static void filter_byte_row_in_floats(const struct row_cache *cache, const struct draw_op *op, struct strip *s, ptrdiff_t start,
                                      float *found) {
    if (op->kind == COVERAGE) {
        gather_bytes((const uint8_t *)op->texels + start, cache->taps, s->words[0], cache->column_count);
        gather_bytes((const uint8_t *)op->texels + start, cache->next_taps, s->words[1], cache->column_count);
    } else {
        gather_pixels((const uint32_t *)op->texels + start, cache->taps, s->words[0], cache->column_count);
        gather_pixels((const uint32_t *)op->texels + start, cache->next_taps, s->words[1], cache->column_count);
    }
    for (int channel = 0; channel < channels_of(op); channel++) {
        lerp_columns(s->words[0], s->words[1], 8 * channel, cache->fractions, found + (ptrdiff_t)channel * cache->column_count,
                     cache->column_count);
    }
}

// Return 1 if a column of a cached row is visible: alpha of at least 1/255, or coverage in single floats above 0.
INLINE int is_visible(const struct draw_op *op, const void *row, int32_t count, int32_t column) {
    if (is_filtered_in_floats(op)) {
        float alpha = ((const float *)row)[(ptrdiff_t)(channels_of(op) - 1) * count + column];
        return alpha > (op->kind == COVERAGE ? 0.0f : 1.0f / 512.0f);
    }
    return ((const uint32_t *)row)[column] >> (op->kind == COVERAGE ? 0 : 24) != 0;
}

static void find_visible(struct row_cache *cache, int32_t slot) {
    int32_t first = 0, end = cache->column_count;
    while (first < end && !is_visible(cache->op, cache->filtered[slot], cache->column_count, first)) first++;
    while (first < end && !is_visible(cache->op, cache->filtered[slot], cache->column_count, end - 1)) end--;
    cache->visible_first[slot] = first, cache->visible_end[slot] = end;
}

// Return the cache index (0 or 1) of a row of texels. Filter the row if it is not cached. Keep the row `other` cached.
static int32_t cached_row(struct row_cache *cache, struct strip *s, int32_t line, int32_t other) {
    const struct draw_op *op = cache->op;
    int32_t slot = cache->lines[0] == line ? 0 : cache->lines[1] == line ? 1 : -1;
    if (slot >= 0) return slot;
    slot = cache->lines[0] == other;
    cache->lines[slot] = line;
    ptrdiff_t start = (ptrdiff_t)line * op->columns;
    if (op->is_exact) {
        filter_byte_row_in_floats(cache, op, s, start, cache->filtered[slot]);
    } else if (op->kind == COVERAGE) {
        filter_code_row((const uint8_t *)op->texels + start, cache->taps, cache->weights, s->patterns[0], cache->filtered[slot],
                        cache->column_count);
    } else if (op->kind == IMAGE) {
        const uint32_t *line_of = (const uint32_t *)op->texels + start;
        filter_pixel_row(line_of, cache->taps, cache->weights, s->words[0], s->words[1], cache->filtered[slot],
                         cache->column_count);
    } else {
        if (op->kind == HALF_CELLS) {
            filter_half_row((const uint16_t *)op->texels + 4 * start, cache->taps, cache->next_taps, cache->fractions,
                            s->interleaved, cache->column_count);
        } else {
            filter_float_row((const float *)op->texels + 4 * start, cache->taps, cache->next_taps, cache->fractions, s->interleaved,
                             cache->column_count);
        }
        float *found = cache->filtered[slot];
        for (int i = 0; i < cache->column_count; i++) {
            for (int channel = 0; channel < 4; channel++)
                found[channel * cache->column_count + i] = s->interleaved[4 * i + channel];
        }
    }
    find_visible(cache, slot);
    return slot;
}

static void lerp_code_rows(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t weight, float full,
                           float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of_code(lerp_8bit(upper[i], lower[i], weight), full, opacity);
}

static void lerp_pixel_rows(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t weight,
                            uint32_t *restrict pixels, int count) {
    for (int i = 0; i < count; i++) pixels[i] = lerp_pixel(upper[i], lower[i], weight);
}

static void fused_lerp_rows(const float *restrict upper, const float *restrict lower, float fraction, float *restrict found,
                            int count) {
    for (int i = 0; i < count; i++) found[i] = fused_lerp(upper[i], lower[i], fraction);
}

// Cache the rows of texels that a row of the frame is filtered from. Narrows columns [*first, *end) to those that are not
// transparent.
static void cache_rows(struct row_cache *cache, struct strip *s, int row, int *first, int *end) {
    const struct draw_op *op = cache->op;
    texel_positions(op, s, row, *first, 1);
    if (op->is_nearest) {
        cache->row_tap_8bit.first = nearest_texel(s->v[0], op->rows);
        return;
    }
    int32_t line, next;
    if (is_filtered_in_floats(op)) {
        cache->row_tap = tap_float(s->v[0], op->rows);
        line = cache->row_tap.first, next = cache->row_tap.next;
    } else {
        cache->row_tap_8bit = tap_8bit(s->v[0], op->rows);
        line = cache->row_tap_8bit.first + (cache->row_tap_8bit.weight == 256),
        next = cache->row_tap_8bit.first + (cache->row_tap_8bit.weight != 0);
    }
    int32_t one = cache->upper = cached_row(cache, s, line, next), two = cache->lower = cached_row(cache, s, next, line);
    if (cache->visible_first[one] >= cache->visible_end[one]) one = two;
    if (cache->visible_first[two] >= cache->visible_end[two]) two = one;
    int shown = cache->first_column +
                (cache->visible_first[one] < cache->visible_first[two] ? cache->visible_first[one] : cache->visible_first[two]);
    int shown_end = cache->first_column +
                    (cache->visible_end[one] > cache->visible_end[two] ? cache->visible_end[one] : cache->visible_end[two]);
    *first = shown > *first ? shown : *first;
    *end = shown_end < *end ? shown_end : *end;
}

// Interpolate columns of a row between the cached rows: s->alpha of COVERAGE, s->words[0] of an IMAGE filtered in 8 bits, else
// s->texels.
static void sample_cached_rows(const struct row_cache *cache, struct strip *s, int first, int count) {
    const struct draw_op *op = cache->op;
    int at = first - cache->first_column;
    if (op->is_nearest) {
        ptrdiff_t start = (ptrdiff_t)cache->row_tap_8bit.first * op->columns;
        if (op->kind == IMAGE) {
            gather_pixels((const uint32_t *)op->texels + start, cache->taps + at, s->words[0], count);
        } else {
            const uint8_t *line = (const uint8_t *)op->texels + start;
            gather_alphas(line, cache->taps + at, op->color[3], op->opacity, s->alpha, count);
        }
    } else if (is_filtered_in_floats(op)) {
        const float *upper = (const float *)cache->filtered[cache->upper] + at,
                    *lower = (const float *)cache->filtered[cache->lower] + at;
        for (int channel = 0; channel < channels_of(op); channel++) {
            ptrdiff_t start = (ptrdiff_t)channel * cache->column_count;
            float *texels = s->texels[channel];
            (op->is_exact ? lerp_rows : fused_lerp_rows)(upper + start, lower + start, cache->row_tap.fraction, texels, count);
        }
        if (op->kind == COVERAGE) alpha_of_coverage(s->texels[0], op->color[3], op->opacity, s->alpha, count);
    } else {
        const uint32_t *upper = (const uint32_t *)cache->filtered[cache->upper] + at,
                       *lower = (const uint32_t *)cache->filtered[cache->lower] + at;
        if (op->kind == COVERAGE) {
            lerp_code_rows(upper, lower, cache->row_tap_8bit.weight, op->color[3], op->opacity, s->alpha, count);
        } else {
            lerp_pixel_rows(upper, lower, cache->row_tap_8bit.weight, s->words[0], count);
        }
    }
}

#endif
