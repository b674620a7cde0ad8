// Texels whose rows lie along those of the frame. The texels that a column lies between are the same for all rows. A row of texels is
// filtered across once, and cached for the rows of the frame beside it.

#ifndef UPRIGHT_H
#define UPRIGHT_H

#include "texels.h"

struct row_cache {
    const struct draw_op *of;
    int32_t from, count;     // columns of the frame
    int32_t lines[2];        // which rows of texels are cached; -1 none
    int32_t shown[2], end[2];  // of each: the columns that are not transparent
    int32_t upper, lower;    // which of both the frame's row lies between
    struct part part;        // and how far from the upper one: in 256 parts
    struct corner corner;    // or as a float
    int32_t *first, *next;   // the texels that each column lies between; of bytes they are neighbours
    float *across;           // and how far from the first one
    uint32_t *shares;        // the same in 256 parts
    void *rows[2];           // codes, pixels, or floats channel by channel
};

static int is_upright(const struct draw_op *of) {
    if (of->kind == GLOW) return !of->is_nearest;
    int has_texels = of->kind == COVERAGE || of->kind == IMAGE || of->kind == CELLS || of->kind == HALF_CELLS;
    return has_texels && !of->is_projective && of->to_unit[1] == 0.0f && of->to_unit[3] == 0.0f;
}

// Where columns, or rows, of the frame lie on the texels of light, from 0 to 1.
INLINE float cell_of(int pixel, float share, float first, float cells) {
    return (((float)pixel + 0.5f) * share - first) / cells;
}

static void cells_of(const struct draw_op *of, int row, int first, int count, float *restrict u, float *restrict v) {
    float share = of->share, left = of->own[0], cells = of->own[2], down = cell_of(row, share, of->own[1], of->own[3]);
    for (int i = 0; i < count; i++) {
        u[i] = cell_of(first + i, share, left, cells);
        v[i] = down;
    }
}

// Positions of pixel centres on the texels of a draw operation: r->u and r->v.
static void placed(const struct draw_op *of, struct row *r, int row, int first, int count) {
    if (of->kind == GLOW) {
        cells_of(of, row, first, count, r->u, r->v);
        return;
    }
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    int is_limited = of->kind == CELLS || of->kind == HALF_CELLS;
    part_shown(r->u, is_limited, of->own[0], of->own[2], count);
    part_shown(r->v, is_limited, of->own[1], of->own[3], count);
}

static void part_columns(const float *restrict u, int32_t columns, int32_t *restrict first, uint32_t *restrict shares,
                         int count) {
    for (int i = 0; i < count; i++) {
        struct part part = part_between(u[i], columns);
        first[i] = part.first, shares[i] = part.share;
    }
}

static void nearest_columns(const float *restrict u, int32_t columns, int32_t *restrict first, int count) {
    for (int i = 0; i < count; i++) first[i] = nearest_of(u[i], columns);
}

static void corner_columns(const float *restrict u, int32_t columns, int32_t *restrict first, int32_t *restrict next,
                           float *restrict across, int count) {
    for (int i = 0; i < count; i++) {
        struct corner corner = corner_of(u[i], columns);
        first[i] = corner.first, next[i] = corner.next, across[i] = corner.share;
    }
}

static int is_filtered_in_floats(const struct draw_op *of) {
    return of->is_exact || (of->kind != COVERAGE && of->kind != IMAGE);
}

// Columns [from, from + count) of a strip, CHUNK at the most. Without memory `first` stays 0, and all is looked up anew.
static void begin(struct row_cache *k, const struct draw_op *of, struct row *r, int from, int count) {
    int is_numbers = is_filtered_in_floats(of);
    size_t column = 3 * sizeof(int32_t), row = (is_numbers ? 4 : 1) * sizeof(float);
    k->first = malloc((size_t)count * (column + 2 * row));
    if (!k->first) return;
    k->of = of, k->from = from, k->count = count, k->lines[0] = k->lines[1] = -1;
    k->next = k->first + count;
    k->across = (float *)(k->next + count), k->shares = (uint32_t *)(k->next + count);
    k->rows[0] = k->shares + count, k->rows[1] = (char *)k->rows[0] + (size_t)count * row;
    placed(of, r, of->top, from, count);
    if (of->is_nearest) {
        nearest_columns(r->u, of->columns, k->first, count);
    } else if (is_numbers) {
        corner_columns(r->u, of->columns, k->first, k->next, k->across, count);
    } else {
        part_columns(r->u, of->columns, k->first, k->shares, count);
    }
}

static void code_row(const uint8_t *restrict texels, const int32_t *restrict first, const uint32_t *restrict shares,
                     uint16_t *restrict pairs, uint32_t *restrict codes, int count) {
    for (int i = 0; i < count; i++) memcpy(pairs + i, texels + first[i], sizeof *pairs);
    for (int i = 0; i < count; i++) codes[i] = mixed(pairs[i] & 255, pairs[i] >> 8, shares[i]);
}

static void pixel_row(const uint32_t *restrict texels, const int32_t *restrict first, const uint32_t *restrict shares,
                      uint32_t *restrict one, uint32_t *restrict two, uint32_t *restrict pixels, int count) {
    for (int i = 0; i < count; i++) one[i] = texels[first[i]], two[i] = texels[first[i] + 1];
    for (int i = 0; i < count; i++) pixels[i] = pixels_mixed(one[i], two[i], shares[i]);
}

static void number_row(const float *restrict texels, const int32_t *restrict first, const int32_t *restrict next,
                       const float *restrict across, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        const float *one = texels + 4 * first[i], *two = texels + 4 * next[i];
        for (int channel = 0; channel < 4; channel++) {
            found[4 * i + channel] = between_two(one[channel], two[channel], across[i]);
        }
    }
}

static void half_row(const uint16_t *restrict texels, const int32_t *restrict first, const int32_t *restrict next,
                     const float *restrict across, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        float one[4], two[4];
        texel_of(texels + 4 * first[i], one);
        texel_of(texels + 4 * next[i], two);
        for (int channel = 0; channel < 4; channel++) {
            found[4 * i + channel] = between_two(one[channel], two[channel], across[i]);
        }
    }
}

// A row of bytes in single floats, channel by channel.
static void exact_row(const struct row_cache *k, const struct draw_op *of, struct row *r, ptrdiff_t start, float *found) {
    if (of->kind == COVERAGE) {
        taken_bytes((const uint8_t *)of->texels + start, k->first, r->found[0], k->count);
        taken_bytes((const uint8_t *)of->texels + start, k->next, r->found[1], k->count);
    } else {
        taken_pixels((const uint32_t *)of->texels + start, k->first, r->found[0], k->count);
        taken_pixels((const uint32_t *)of->texels + start, k->next, r->found[1], k->count);
    }
    for (int channel = 0; channel < channels_of(of); channel++) {
        exact_across(r->found[0], r->found[1], 8 * channel, k->across, found + (ptrdiff_t)channel * k->count, k->count);
    }
}

// Whether a column of a cached row can be seen. An alpha below 1/255 cannot, but for coverage in single floats.
INLINE int is_shown(const struct draw_op *of, const void *row, int32_t count, int32_t column) {
    if (is_filtered_in_floats(of)) {
        float alpha = ((const float *)row)[(ptrdiff_t)(channels_of(of) - 1) * count + column];
        return alpha > (of->kind == COVERAGE ? 0.0f : 1.0f / 512.0f);
    }
    return ((const uint32_t *)row)[column] >> (of->kind == COVERAGE ? 0 : 24) != 0;
}

static void find_shown(struct row_cache *k, int32_t slot) {
    int32_t first = 0, end = k->count;
    while (first < end && !is_shown(k->of, k->rows[slot], k->count, first)) first++;
    while (first < end && !is_shown(k->of, k->rows[slot], k->count, end - 1)) end--;
    k->shown[slot] = first, k->end[slot] = end;
}

// Return the cached row (0 or 1) of a row of texels, filtered across; it does not take the place of another one.
static int32_t cached_row(struct row_cache *k, struct row *r, int32_t line, int32_t other) {
    const struct draw_op *of = k->of;
    int32_t slot = k->lines[0] == line ? 0 : k->lines[1] == line ? 1 : -1;
    if (slot >= 0) return slot;
    slot = k->lines[0] == other;
    k->lines[slot] = line;
    ptrdiff_t start = (ptrdiff_t)line * of->columns;
    if (of->is_exact) {
        exact_row(k, of, r, start, k->rows[slot]);
    } else if (of->kind == COVERAGE) {
        code_row((const uint8_t *)of->texels + start, k->first, k->shares, r->patterns[0], k->rows[slot], k->count);
    } else if (of->kind == IMAGE) {
        const uint32_t *line_of = (const uint32_t *)of->texels + start;
        pixel_row(line_of, k->first, k->shares, r->found[0], r->found[1], k->rows[slot], k->count);
    } else {
        if (of->kind == HALF_CELLS) {
            half_row((const uint16_t *)of->texels + 4 * start, k->first, k->next, k->across, r->beside, k->count);
        } else {
            number_row((const float *)of->texels + 4 * start, k->first, k->next, k->across, r->beside, k->count);
        }
        float *found = k->rows[slot];
        for (int i = 0; i < k->count; i++) {
            for (int channel = 0; channel < 4; channel++) found[channel * k->count + i] = r->beside[4 * i + channel];
        }
    }
    find_shown(k, slot);
    return slot;
}

static void code_rows(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t share, float full, float opacity,
                      float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = alpha_of(mixed(upper[i], lower[i], share), full, opacity);
}

static void pixel_rows(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t share,
                       uint32_t *restrict pixels, int count) {
    for (int i = 0; i < count; i++) pixels[i] = pixels_mixed(upper[i], lower[i], share);
}

static void number_rows(const float *restrict upper, const float *restrict lower, float share, float *restrict found,
                        int count) {
    for (int i = 0; i < count; i++) found[i] = between_two(upper[i], lower[i], share);
}

// Cache the rows of texels that a row of the frame is filtered from. Narrows columns [*first, *end) to those that are not transparent.
static void cache_rows(struct row_cache *k, struct row *r, int row, int *first, int *end) {
    const struct draw_op *of = k->of;
    placed(of, r, row, *first, 1);
    if (of->is_nearest) {
        k->part.first = nearest_of(r->v[0], of->rows);
        return;
    }
    int32_t line, next;
    if (is_filtered_in_floats(of)) {
        k->corner = corner_of(r->v[0], of->rows);
        line = k->corner.first, next = k->corner.next;
    } else {
        k->part = part_between(r->v[0], of->rows);
        line = k->part.first + (k->part.share == 256), next = k->part.first + (k->part.share != 0);
    }
    int32_t one = k->upper = cached_row(k, r, line, next), two = k->lower = cached_row(k, r, next, line);
    if (k->shown[one] >= k->end[one]) one = two;
    if (k->shown[two] >= k->end[two]) two = one;
    int shown = k->from + (k->shown[one] < k->shown[two] ? k->shown[one] : k->shown[two]);
    int shown_end = k->from + (k->end[one] > k->end[two] ? k->end[one] : k->end[two]);
    *first = shown > *first ? shown : *first;
    *end = shown_end < *end ? shown_end : *end;
}

// Columns of a row, from the cached rows: of COVERAGE r->alpha, of an IMAGE filtered in 8 bits r->found[0], else r->texels.
static void found_upright(const struct row_cache *k, struct row *r, int first, int count) {
    const struct draw_op *of = k->of;
    int at = first - k->from;
    if (of->is_nearest) {
        ptrdiff_t start = (ptrdiff_t)k->part.first * of->columns;
        if (of->kind == IMAGE) {
            taken_pixels((const uint32_t *)of->texels + start, k->first + at, r->found[0], count);
        } else {
            const uint8_t *line = (const uint8_t *)of->texels + start;
            taken_codes(line, k->first + at, of->color[3], of->opacity, r->alpha, count);
        }
    } else if (is_filtered_in_floats(of)) {
        const float *upper = (const float *)k->rows[k->upper] + at, *lower = (const float *)k->rows[k->lower] + at;
        for (int channel = 0; channel < channels_of(of); channel++) {
            ptrdiff_t start = (ptrdiff_t)channel * k->count;
            float *texels = r->texels[channel];
            (of->is_exact ? exact_down : number_rows)(upper + start, lower + start, k->corner.share, texels, count);
        }
        if (of->kind == COVERAGE) exact_alpha(r->texels[0], of->color[3], of->opacity, r->alpha, count);
    } else {
        const uint32_t *upper = (const uint32_t *)k->rows[k->upper] + at, *lower = (const uint32_t *)k->rows[k->lower] + at;
        if (of->kind == COVERAGE) {
            code_rows(upper, lower, k->part.share, of->color[3], of->opacity, r->alpha, count);
        } else {
            pixel_rows(upper, lower, k->part.share, r->found[0], count);
        }
    }
}

#endif
