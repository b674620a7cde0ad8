// Composite draw operations row by row in single floats. The results agree with shaders/compositing/quad.frag and layer.frag.
// Each step is rounded separately, except that filters of half and single floats fuse one multiplication with one addition.
// Colours are linear.

#include "adjustment.h"
#include "blending.h"
#include "contents.h"
#include "rows.h"

// A draw operation clipped to the columns of a strip, with values that are the same for all rows.
struct clipped_op {
    const struct draw_op *op;
    struct draw_op graded;            // a copy of an operation of one colour, after its colour stage
    float flat[4];                    // straight colour and alpha of an interior of one colour
    int32_t top, bottom, first, end;  // rows and columns of the frame inside the strip
    int square_count, inner_count, outer_count;
    struct edge square[4], inner[EDGES_MAX];  // edges of its quad, and of the interior that no edge of its shape touches
    struct edge outer[4];                     // an ellipse, or texels, touch no pixel outside these
    struct row_cache texels;                  // unused if `taps` is 0
};

// ---------------------------------------------------------------------------------------------------------------- contents

// Replace an operation of one colour with a copy that has the graded colour.
static void grade_one_colour(struct clipped_op *clipped, struct strip *s) {
    clipped->graded = *clipped->op;
    for (int channel = 0; channel < 3; channel++) s->source[channel][0] = clipped->op->color[channel];
    apply_grade(clipped->op->grade, s, 1);
    for (int channel = 0; channel < 3; channel++) clipped->graded.color[channel] = s->source[channel][0];
    clipped->op = &clipped->graded;
}

static void apply_mask(const struct draw_op *op, struct strip *s, int row, int first, int count) {
    (op->is_projective ? projective_positions : affine_positions)(op->to_unit, row, first, count, s->u, s->v);
    gather_codes_around(op->mask, op->mask_columns, op->mask_rows, s, count);
    multiply_by_mask(s->words[0], s->weights[0], s->weights[1], s->alpha, count);
}

// Span of columns that can contain the quad's edge, only the edge of its shape, or no edge.
enum span_kind { QUAD_EDGE, SHAPE_EDGE, INTERIOR };

// Composite content over columns [first, end) of a row. `left`: the column of the row's first number.
static void composite_span(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int left, int first,
                           int end, enum span_kind kind) {
    if (first >= end) return;
    int count = end - first, at = first - left;
    int shaded = cache || op->kind == GROUP ? count : whole_vectors(count);  // only these two read by column
    const float *covered = kind == QUAD_EDGE && op->samples ? s->coverage : 0;
    if (covered) quad_coverage(op, row, first, shaded, s->coverage);
    shade_and_grade(op, cache, s, row, first, shaded, kind == INTERIOR);
    if (op->mask) apply_mask(op, s, row, first, shaded);
    blend_function *function = blend_function_of(op->mode);
    if (op->mode) prepare_alpha(covered, s->alpha, count);
    for (int channel = 0; channel < 3; channel++) {
        float *below = s->backdrop[channel] + at;
        if (op->mode) {
            if (has_one_colour(op)) fill(s->source[channel], op->color[channel], count);
            if (function) function(below, s->source[channel], s->alpha, count);
        } else if (has_one_colour(op)) {
            over_one_colour(below, op->color[channel], s->alpha, covered, count);
        } else if (kind == INTERIOR && is_opaque_gradient(op)) {
            over_opaque(below, s->source[channel], count);
        } else {
            over_straight(below, s->source[channel], s->alpha, covered, count);
        }
    }
}

// Composite content over columns [first, end) of a row beside its interior. The quad's edge lies before column `middle` if
// `is_left`, else from it on. A short span is composited at once: a second call would cost more than its coverage.
static void composite_edges(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int left, int first,
                            int middle, int end, int is_left) {
    enum { AT_ONCE_MAX = 16 };
    if (first < middle && middle < end && end - first <= AT_ONCE_MAX) {
        composite_span(op, cache, s, row, left, first, end, QUAD_EDGE);
        return;
    }
    composite_span(op, cache, s, row, left, first, middle, is_left ? QUAD_EDGE : SHAPE_EDGE);
    composite_span(op, cache, s, row, left, middle, end, is_left ? SHAPE_EDGE : QUAD_EDGE);
}

// Composite one colour over columns that it covers completely.
static void composite_flat_span(const float *flat, struct strip *s, int at, int count) {
    for (int channel = 0; channel < 3; channel++) over_flat(s->backdrop[channel] + at, flat[channel], flat[3], count);
}

// Composite content over columns [first, end) of a row, split where edges begin and end. `left`: the column of the row's first
// number.
static void composite_content(struct clipped_op *clipped, struct row_cache *cache, struct strip *s, int row, int left, int first,
                              int end) {
    const struct draw_op *op = clipped->op;
    clip_span(clipped->square, clipped->square_count, row, -1.0, &first, &end);
    if (clipped->outer_count) clip_span(clipped->outer, clipped->outer_count, row, -FOLD_MAX, &first, &end);
    touch(s, first - left, end - left);
    int covered_first = first, covered_end = end;
    clip_span(clipped->square, clipped->square_count, row, 1.0, &covered_first, &covered_end);
    if (covered_first >= covered_end) {
        composite_span(op, cache, s, row, left, first, end, QUAD_EDGE);
        return;
    }
    int inner_first = covered_first, inner_end = covered_end;
    if (clipped->inner_count) {
        clip_span(clipped->inner, clipped->inner_count, row, 1.0, &inner_first, &inner_end);
    } else if (!is_hard(op)) {
        inner_end = inner_first;
    }
    if (inner_first >= inner_end) inner_first = inner_end = covered_end;
    composite_edges(op, cache, s, row, left, first, covered_first, inner_first, 1);
    if (op->mode || (is_shape(op) && op->texels)) {
        composite_span(op, cache, s, row, left, inner_first, inner_end, INTERIOR);
    } else if (inner_first < inner_end) {
        composite_flat_span(clipped->flat, s, inner_first - left, inner_end - inner_first);
    }
    composite_edges(op, cache, s, row, left, inner_end, covered_end, end, 0);
}

// ------------------------------------------------------------------------------------------------------ glows and buffers

// Composite s->buffer over its glow: `resampled` of shaders/include/color.glsl of the buffer, plus the glow times the buffer's
// transparency.
static void put_buffer_over_glow(const struct strip *s, float (*restrict glow)[CHUNK], int count) {
    const float *alpha = s->buffer[3];
    for (int channel = 0; channel < 4; channel++) {
        const float *colours = s->buffer[channel];
        float *restrict combined = glow[channel];
        for (int i = 0; i < count; i++) {
            float own = select_float(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i]);
            float colour = select_float(alpha[i] < 1.0f / 255.0f, 0.0f, clamp(colours[i], 0.0f, alpha[i]));
            combined[i] = (channel < 3 ? colour : own) + combined[i] * (1.0f - own);
        }
    }
}

// Write `resampled` of shaders/include/color.glsl times `opacities` to s->source, premultiplied, and to s->transmittance.
static void apply_opacity(struct strip *s, const float *restrict opacities, int count) {
    const float *alpha = s->texels[3];
    for (int channel = 0; channel < 3; channel++) {
        const float *restrict texels = s->texels[channel];
        float *restrict source = s->source[channel];
        for (int i = 0; i < count; i++) {
            float colour = clamp(texels[i], 0.0f, alpha[i]) * opacities[i];
            source[i] = select_float(alpha[i] < 1.0f / 255.0f, 0.0f, colour);
        }
    }
    for (int i = 0; i < count; i++) {
        s->transmittance[i] = 1.0f - select_float(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i] * opacities[i]);
    }
}

// Write the opacity of each pixel by a matte: `matte` of shaders/include/matte.glsl.
static void matte_opacities(float (*restrict texels)[CHUNK], int mode, float *restrict opacities, int count) {
    for (int i = 0; i < count; i++) {
        float red = to_8_bits(texels[0][i]), green = to_8_bits(texels[1][i]), blue = to_8_bits(texels[2][i]);
        float alpha = to_8_bits(texels[3][i]), luma = (green * 0.7152f + blue * 0.0722f) + red * 0.2126f;
        float of_alpha = select_float(mode == 1, alpha, 1.0f - alpha);
        float of_luma = select_float(mode == 3, luma * alpha, (1.0f - luma) * alpha);
        opacities[i] = select_float(mode <= 2, of_alpha, of_luma);
    }
}

// Write opacity times matte to s->alpha. Overwrites s->texels.
static void apply_matte(const struct draw_op *op, struct strip *s, int row, int first, int count) {
    const struct draw_op *matte = op->matte;
    fill(s->alpha, op->opacity, count);
    if (!matte) return;
    fill(s->alpha, op->opacity * (matte->mode == 2 ? 1.0f : 0.0f), count);
    int left = (int)matte->region.left, top = (int)matte->region.top, from = first > left ? first : left, to = first + count;
    to = to < left + matte->columns ? to : left + matte->columns;
    if (row < top || row >= top + matte->rows || from >= to) return;
    read_frame_pixels(matte, s, row, from, to - from, s->texels);
    matte_opacities(s->texels, matte->mode, s->alpha + (from - first), to - from);
    multiply_all(s->alpha + (from - first), op->opacity, to - from);
}

// Sample a glow on columns of a row into s->texels.
static void sample_glow(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int first, int count) {
    if (op->is_nearest) {
        read_frame_pixels(op, s, row, first, count, s->texels);
    } else if (cache) {
        sample_cached_rows(cache, s, first, count);
    } else {
        texel_positions(op, s, row, first, count);
        sample_texels(op, s, count);
    }
}

// Composite a glow, a layer buffer, or a buffer with its glow.
static void composite_buffer(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int left, int first,
                             int end) {
    int count = end - first;
    apply_matte(op, s, row, first, count);
    if (op->kind == BUFFER) {
        read_frame_pixels(op, s, row, first, count, s->texels);
    } else if (op->kind == GLOW) {
        sample_glow(op, cache, s, row, first, count);
    } else {
        sample_glow(op->glow, cache, s, row, first, count);
        read_frame_pixels(op, s, row, first, count, s->buffer);
        put_buffer_over_glow(s, s->texels, count);
    }
    apply_opacity(s, s->alpha, count);
    for (int channel = 0; channel < 3; channel++) {
        over(s->backdrop[channel] + (first - left), s->source[channel], s->transmittance, count);
    }
}

// --------------------------------------------------------------------------------------------------------------- the frame

// Quantise columns [first, end) of a row to 8 bits. Columns that are already quantised are skipped.
static void quantise_row(struct strip *s, int left, int first, int end) {
    int from = first > s->unquantised_first ? first : s->unquantised_first,
        to = end < s->unquantised_end ? end : s->unquantised_end;
    for (int channel = 0; channel < 3 && from < to; channel++) quantise(s->backdrop[channel] + (from - left), to - from);
    if (first <= s->unquantised_first && end >= s->unquantised_end) s->unquantised_first = s->unquantised_end = left;
}

// Extend the range of unquantised columns by [first, end).
static void mark_unquantised(struct strip *s, int first, int end) {
    int is_none = s->unquantised_first >= s->unquantised_end;
    s->unquantised_first = is_none || first < s->unquantised_first ? first : s->unquantised_first;
    s->unquantised_end = is_none || end > s->unquantised_end ? end : s->unquantised_end;
}

// Write the straight colour and alpha of flat texels to clipped->flat.
static void shade_flat_texels(struct clipped_op *clipped, struct strip *s) {
    const struct draw_op *op = clipped->op;
    ptrdiff_t at = 4 * ((ptrdiff_t)op->flat.top * op->columns + op->flat.left);
    float texel[4];
    if (op->kind == HALF_CELLS) {
        read_half_texel((const uint16_t *)op->texels + at, texel);
    } else {
        memcpy(texel, (const float *)op->texels + at, sizeof texel);
    }
    for (int channel = 0; channel < 4; channel++) s->texels[channel][0] = texel[channel];
    shade_texels(s, op->opacity, 1);
    if (op->grade) apply_grade(op->grade, s, 1);
    for (int channel = 0; channel < 3; channel++) clipped->flat[channel] = s->source[channel][0];
    clipped->flat[3] = s->alpha[0];
}

// Find the edges of an operation's quad and interior, and the colour of a flat interior.
static void find_edges(struct clipped_op *clipped, struct strip *s) {
    const struct draw_op *op = clipped->op;
    int is_cells = op->kind == CELLS || op->kind == HALF_CELLS;
    clipped->square_count = quad_edges(op, clipped->square, 0, 0);
    clipped->inner_count = clipped->outer_count = 0;
    if (is_shape(op)) {
        clipped->inner_count = is_hard(op) ? 0 : interior_edges(op, clipped->inner);
        if (op->kind == ELLIPSE && clipped->inner_count) clipped->outer_count = ellipse_edges(op, clipped->outer);
        for (int channel = 0; channel < 3; channel++) clipped->flat[channel] = op->color[channel];
        clipped->flat[3] = op->color[3] * op->opacity;
    } else if (is_cells && !op->mode && op->visible.left < op->visible.right &&
               is_before_horizon(op, clipped->first, clipped->top, clipped->end, clipped->bottom)) {
        clipped->outer_count = visible_edges(op, clipped->outer);
        clipped->inner_count = flat_edges(op, clipped->inner);
        if (clipped->inner_count) shade_flat_texels(clipped, s);
    }
}

// Clip operations to a strip, columns [left, right) and rows [top, bottom), from bottom to top. Returns the number of visible ones.
static int clip_ops(const struct draw_op *ops, int count, struct strip *s, int left, int top, int right, int bottom,
                    struct clipped_op *clipped_ops) {
    struct clipped_op *clipped = clipped_ops;
    for (const struct draw_op *op = ops; op < ops + count; op++) {
        clipped->op = op;
        clipped->top = op->top > top ? op->top : top, clipped->bottom = op->bottom < bottom ? op->bottom : bottom;
        clipped->first = op->left > left ? op->left : left, clipped->end = op->right < right ? op->right : right;
        if (clipped->top >= clipped->bottom || clipped->first >= clipped->end) continue;
        if (op->grade && has_one_colour(op)) grade_one_colour(clipped, s);
        find_edges(clipped, s);
        const struct draw_op *shown = op->kind == GLOWING_BUFFER ? op->glow : op;
        clipped->texels.taps = 0;
        if (has_upright_texels(shown)) begin_row_cache(&clipped->texels, shown, s, clipped->first, clipped->end - clipped->first);
        clipped++;
    }
    return (int)(clipped - clipped_ops);
}

static void composite_row(struct clipped_op *clipped, struct strip *s, int row, int left) {
    const struct draw_op *op = clipped->op;
    struct row_cache *cache = clipped->texels.taps ? &clipped->texels : 0;
    int first = clipped->first, end = clipped->end;
    if (op->kind == QUANTISE) {
        touch(s, first - left, end - left);
        quantise_row(s, left, first, end);
        return;
    }
    if (cache) {
        int shown = first, shown_end = end;
        cache_rows(cache, s, row, &shown, &shown_end);
        if (op->kind != GLOWING_BUFFER && !op->mode) first = shown, end = shown_end;
        if (first >= end) return;
    }
    mark_unquantised(s, first, end);
    if (op->kind < BUFFER) {
        composite_content(clipped, cache, s, row, left, first, end);
        return;
    }
    touch(s, first - left, end - left);
    if (op->kind == ADJUST) {
        adjust(op, s, row, left, first, end);
    } else {
        composite_buffer(op, cache, s, row, left, first, end);
    }
}

// Composite operations over columns [left, right) and rows [top, bottom), in strips of columns. `clipped_ops`: room for `count`.
static void composite_part(const struct backdrop *on, const struct draw_op *ops, int count, struct clipped_op *clipped_ops,
                           const uint8_t *restrict levels, uint8_t *restrict picture, ptrdiff_t stride, int left, int top,
                           int right, int bottom) {
    struct strip s;
    int is_over_color = levels && !on->footage && !on->halves;
    uint16_t patterns[3];
    write_half_patterns(on->color, patterns, 3);
    uint32_t pixel = levels ? pixel_of(levels, patterns[0], patterns[1], patterns[2]) : 0;
    for (int x = left, columns; x < right; x += columns) {
        columns = right - x < CHUNK ? right - x : CHUNK;
        struct clipped_op *end = clipped_ops + clip_ops(ops, count, &s, x, top, x + columns, bottom, clipped_ops);
        if (is_over_color) read_backdrop(on, &s, 0, 0, columns);
        s.touched = 0;
        for (int row = top; row < bottom; row++) {
            if (!is_over_color) read_backdrop(on, &s, row - on->top, x - on->left, columns);
            s.unquantised_first = x, s.unquantised_end = x + columns;
            for (struct clipped_op *clipped = clipped_ops; clipped < end; clipped++) {
                if (row >= clipped->top && row < clipped->bottom) composite_row(clipped, &s, row, x);
            }
            uint8_t *shown = picture + row * stride + (levels ? 4 : 8) * (ptrdiff_t)x;
            if (is_over_color) {
                write_row_over_color(on->color, pixel, &s, levels, shown, columns);
            } else {
                write_columns(&s, levels, shown, 0, columns);
            }
        }
        for (struct clipped_op *clipped = clipped_ops; clipped < end; clipped++) free(clipped->texels.taps);
    }
}

// Composite operations from bottom to top over parts of a backdrop, and display-encode the result into a picture. `parts`: column,
// row, width and height of each part. `levels`: a level for each of the 65,536 patterns of a half float. Without levels, write RGBA
// half floats unchanged. Returns 0 if out of memory.
int composite(const struct backdrop *on, const struct draw_op *ops, int count, const uint8_t *restrict levels,
              uint8_t *restrict picture, ptrdiff_t stride, const int *restrict parts, int part_count) {
    struct clipped_op *clipped_ops = malloc((size_t)count * sizeof *clipped_ops + 1);
    if (!clipped_ops) return 0;
    for (const int *part = parts; part < parts + 4 * part_count; part += 4) {
        composite_part(on, ops, count, clipped_ops, levels, picture, stride, part[0], part[1], part[0] + part[2],
                       part[1] + part[3]);
    }
    free(clipped_ops);
    return 1;
}
