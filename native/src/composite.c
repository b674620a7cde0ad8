// Composite draw operations row by row in single floats. The results agree with shaders/compositing/quad.frag and layer.frag.
// Each step is rounded separately; filters of half and single floats fuse one multiplication with one addition.
// Colours are linear.

#include "blending.h"
#include "contents.h"

// A draw operation clipped to a strip of columns, with values that hold for all of its rows.
struct piece {
    const struct draw_op *of;
    struct draw_op recoloured;               // a copy of one colour that its stage has changed
    int32_t top, bottom, first, end;         // its pixels inside the strip
    int square_count, inner_count, outer_count;
    struct edge square[4], inner[EDGES_MAX];  // of its quad; and of the interior that the shape's edge does not touch
    struct edge outer[4];                     // outside these an ellipse touches no pixel
    struct row_cache texels;                  // unused if `first` is 0
};

// ---------------------------------------------------------------------------------------------------------------- contents

// Apply the colour stage of an operation of one colour.
static void recolour(struct piece *p, struct row *r) {
    p->recoloured = *p->of;
    for (int channel = 0; channel < 3; channel++) r->source[channel][0] = p->of->color[channel];
    graded(p->of->grade, r, 1);
    for (int channel = 0; channel < 3; channel++) p->recoloured.color[channel] = r->source[channel][0];
    p->of = &p->recoloured;
}

static void mask_applied(const struct draw_op *of, struct row *r, int row, int first, int count) {
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    found_codes(of->mask, of->mask_columns, of->mask_rows, r, count);
    masked(r->found[0], r->shares[0], r->shares[1], r->alpha, count);
}

enum place { CUT, WHOLE, INSIDE };  // may contain the quad's edge; only the shape's edge; no edge

// Composite content over columns [first, end) of a row. `left`: the column of the row's first number.
static void composite_span(const struct draw_op *of, struct row_cache *k, struct row *r, int row, int left, int first, int end,
                 enum place where) {
    if (first >= end) return;
    int count = end - first, at = first - left;
    const float *covered = where == CUT && of->samples ? r->covered : 0;
    if (covered) coverage(of, row, first, count, r->covered);
    drawn(of, k, r, row, first, count, where == INSIDE);
    if (of->mask) mask_applied(of, r, row, first, count);
    blend_function *function = function_of(of->mode);
    if (of->mode) cut_alpha(covered, r->alpha, count);
    for (int channel = 0; channel < 3; channel++) {
        float *below = r->scene[channel] + at;
        if (of->mode) {
            if (is_of_one_colour(of)) set_all(r->source[channel], of->color[channel], count);
            if (function) function(below, r->source[channel], r->alpha, count);
        } else if (is_of_one_colour(of)) {
            over_tinted(below, of->color[channel], r->alpha, covered, count);
        } else if (where == INSIDE && is_opaque(of)) {
            over_opaque(below, r->source[channel], count);
        } else {
            over_straight(below, r->source[channel], r->alpha, covered, count);
        }
    }
}

// One colour over columns that it covers completely.
static void flat(const struct draw_op *of, struct row *r, int at, int count) {
    for (int channel = 0; channel < 3; channel++) {
        over_flat(r->scene[channel] + at, of->color[channel], of->color[3] * of->opacity, count);
    }
}

// Composite content over columns [first, end) of a row, split where edges begin and end. `left`: the column of the row's first
// number.
static void composite_content(struct piece *p, struct row_cache *k, struct row *r, int row, int left, int first, int end) {
    const struct draw_op *of = p->of;
    span_of(p->square, p->square_count, row, -1.0, &first, &end);
    if (p->outer_count) span_of(p->outer, p->outer_count, row, 0.0, &first, &end);
    int whole_first = first, whole_end = end;
    span_of(p->square, p->square_count, row, 1.0, &whole_first, &whole_end);
    if (whole_first >= whole_end) {
        composite_span(of, k, r, row, left, first, end, CUT);
        return;
    }
    int inner_first = whole_first, inner_end = whole_end;
    if (p->inner_count) {
        span_of(p->inner, p->inner_count, row, 1.0, &inner_first, &inner_end);
    } else if (!is_hard(of)) {
        inner_end = inner_first;
    }
    composite_span(of, k, r, row, left, first, whole_first, CUT);
    if (inner_first >= inner_end) {
        composite_span(of, k, r, row, left, whole_first, whole_end, WHOLE);
    } else {
        composite_span(of, k, r, row, left, whole_first, inner_first, WHOLE);
        if (of->mode || of->texels) {
            composite_span(of, k, r, row, left, inner_first, inner_end, INSIDE);
        } else {
            flat(of, r, inner_first - left, inner_end - inner_first);
        }
        composite_span(of, k, r, row, left, inner_end, whole_end, WHOLE);
    }
    composite_span(of, k, r, row, left, whole_end, end, CUT);
}

// ------------------------------------------------------------------------------------------------------ glows and buffers

// A buffer in front of its glow: `resampled` of the buffer, plus the glow where the buffer is transparent.
static void before_light(const struct row *r, float (*restrict light)[CHUNK], int count) {
    const float *alpha = r->sharp[3];
    for (int channel = 0; channel < 4; channel++) {
        const float *sharp = r->sharp[channel];
        float *restrict found = light[channel];
        for (int i = 0; i < count; i++) {
            float own = picked(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i]);
            float colour = picked(alpha[i] < 1.0f / 255.0f, 0.0f, clamped(sharp[i], 0.0f, alpha[i]));
            found[i] = (channel < 3 ? colour : own) + found[i] * (1.0f - own);
        }
    }
}

// `resampled` of shaders/include/color.glsl times `shares`: r->source, premultiplied, and r->through.
static void colour_of_glow(struct row *r, const float *restrict shares, int count) {
    const float *alpha = r->texels[3];
    for (int channel = 0; channel < 3; channel++) {
        const float *restrict texels = r->texels[channel];
        float *restrict source = r->source[channel];
        for (int i = 0; i < count; i++) {
            float colour = clamped(texels[i], 0.0f, alpha[i]) * shares[i];
            source[i] = picked(alpha[i] < 1.0f / 255.0f, 0.0f, colour);
        }
    }
    for (int i = 0; i < count; i++) {
        r->through[i] = 1.0f - picked(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i] * shares[i]);
    }
}

// Shares that a matte leaves: `matte` of shaders/include/matte.glsl.
static void matte_shares(float (*restrict texels)[CHUNK], int mode, float *restrict shares, int count) {
    for (int i = 0; i < count; i++) {
        float red = floorf(clamped(texels[0][i], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float green = floorf(clamped(texels[1][i], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float blue = floorf(clamped(texels[2][i], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float alpha = floorf(clamped(texels[3][i], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float luma = (green * 0.7152f + blue * 0.0722f) + red * 0.2126f;
        float of_alpha = picked(mode == 1, alpha, 1.0f - alpha);
        float of_luma = picked(mode == 3, luma * alpha, (1.0f - luma) * alpha);
        shares[i] = picked(mode <= 2, of_alpha, of_luma);
    }
}

// r->alpha = opacity times matte. Overwrites r->texels.
static void matted(const struct draw_op *of, struct row *r, int row, int first, int count) {
    const struct draw_op *matte = of->matte;
    set_all(r->alpha, of->opacity, count);
    if (!matte) return;
    set_all(r->alpha, of->opacity * (matte->mode == 2 ? 1.0f : 0.0f), count);
    int left = (int)matte->own[0], top = (int)matte->own[1], from = first > left ? first : left, to = first + count;
    to = to < left + matte->columns ? to : left + matte->columns;
    if (row < top || row >= top + matte->rows || from >= to) return;
    own_pixels(matte, r, row, from, to - from, r->texels);
    matte_shares(r->texels, matte->mode, r->alpha + (from - first), to - from);
    scaled(r->alpha + (from - first), of->opacity, to - from);
}

// Sample a glow on some columns of a row into r->texels.
static void lit(const struct draw_op *of, struct row_cache *k, struct row *r, int row, int first, int count) {
    if (of->is_nearest) {
        own_pixels(of, r, row, first, count, r->texels);
    } else if (k) {
        found_upright(k, r, first, count);
    } else {
        placed(of, r, row, first, count);
        found_numbers(of, r, count);
    }
}

// Composite a glow, a layer buffer, or a buffer with its glow.
static void composite_buffer(const struct draw_op *of, struct row_cache *k, struct row *r, int row, int left, int first, int end) {
    int count = end - first;
    matted(of, r, row, first, count);
    if (of->kind == BUFFER) {
        own_pixels(of, r, row, first, count, r->texels);
    } else if (of->kind == GLOW) {
        lit(of, k, r, row, first, count);
    } else {
        lit(of->light, k, r, row, first, count);
        own_pixels(of, r, row, first, count, r->sharp);
        before_light(r, r->texels, count);
    }
    colour_of_glow(r, r->alpha, count);
    for (int channel = 0; channel < 3; channel++) {
        over(r->scene[channel] + (first - left), r->source[channel], r->through, count);
    }
}

// --------------------------------------------------------------------------------------------------------------- the frame

// Quantise columns [first, end) of a row to 8 bits. Columns that are already quantised are skipped.
static void quantise_row(struct row *r, int left, int first, int end) {
    int from = first > r->fine_first ? first : r->fine_first, to = end < r->fine_end ? end : r->fine_end;
    for (int channel = 0; channel < 3 && from < to; channel++) quantise(r->scene[channel] + (from - left), to - from);
    if (first <= r->fine_first && end >= r->fine_end) r->fine_first = r->fine_end = left;
}

// Mark columns [first, end) of a row as not quantised.
static void fine(struct row *r, int first, int end) {
    int is_none = r->fine_first >= r->fine_end;
    r->fine_first = is_none || first < r->fine_first ? first : r->fine_first;
    r->fine_end = is_none || end > r->fine_end ? end : r->fine_end;
}

// Find the pieces of a strip, columns [left, right) and rows [top, bottom), from bottom to top. Returns their count.
static int found_pieces(const struct draw_op *ops, int count, struct row *r, int left, int top, int right, int bottom,
                        struct piece *pieces) {
    struct piece *p = pieces;
    for (const struct draw_op *of = ops; of < ops + count; of++) {
        p->of = of;
        p->top = of->top > top ? of->top : top, p->bottom = of->bottom < bottom ? of->bottom : bottom;
        p->first = of->left > left ? of->left : left, p->end = of->right < right ? of->right : right;
        if (p->top >= p->bottom || p->first >= p->end) continue;
        if (of->grade && is_of_one_colour(of)) recolour(p, r);
        p->square_count = square_of(of, p->square, 0, 0);
        p->inner_count = is_shape(of) && !is_hard(of) ? inner_of(of, p->inner) : 0;
        p->outer_count = of->kind == ELLIPSE && p->inner_count ? outer_of(of, p->outer) : 0;
        const struct draw_op *shown = of->kind == GLOWING_BUFFER ? of->light : of;
        p->texels.first = 0;
        if (is_upright(shown)) begin(&p->texels, shown, r, p->first, p->end - p->first);
        p++;
    }
    return (int)(p - pieces);
}

static void composite_row(struct piece *p, struct row *r, int row, int left) {
    const struct draw_op *of = p->of;
    struct row_cache *k = p->texels.first ? &p->texels : 0;
    int first = p->first, end = p->end;
    if (of->kind == QUANTISE) {
        quantise_row(r, left, first, end);
        return;
    }
    if (k) {
        int shown = first, shown_end = end;
        cache_rows(k, r, row, &shown, &shown_end);
        if (of->kind != GLOWING_BUFFER && !of->mode) first = shown, end = shown_end;
        if (first >= end) return;
    }
    fine(r, first, end);
    switch (of->kind) {
        case BUFFER:
        case GLOWING_BUFFER:
        case GLOW: composite_buffer(of, k, r, row, left, first, end); break;
        default: composite_content(p, k, r, row, left, first, end);
    }
}

static void read_backdrop(const struct backdrop *on, struct row *r, ptrdiff_t row, int left, int count) {
    if (on->footage) {
        const uint8_t *pixels = on->footage + row * on->stride + 4 * (ptrdiff_t)left;
        for (int i = 0; i < count; i++) {
            for (int channel = 0; channel < 3; channel++) r->scene[channel][i] = on->linear[pixels[4 * i + channel]];
        }
    } else if (on->halves) {
        const uint16_t *pixels = (const uint16_t *)((const uint8_t *)on->halves + row * on->stride) + 4 * (ptrdiff_t)left;
        numbers_of(pixels, r->beside, 4 * count);
        apart(r->beside, r->scene, count);
    } else {
        for (int channel = 0; channel < 3; channel++) set_all(r->scene[channel], on->color[channel], count);
    }
}

INLINE uint32_t pixel_of(const uint8_t *levels, uint16_t red, uint16_t green, uint16_t blue) {
    return levels[red] | (uint32_t)levels[green] << 8 | (uint32_t)levels[blue] << 16 | 0xff000000u;
}

#ifdef __AVX2__
// Return whether eight patterns are equal.
INLINE int are_same(const uint16_t *patterns) {
    __m128i all = _mm_loadu_si128((const __m128i *)patterns);
    return _mm_movemask_epi8(_mm_cmpeq_epi16(all, _mm_broadcastw_epi16(all))) == 0xffff;
}
#endif

static void shown_by(const uint8_t *restrict levels, const uint16_t *restrict red, const uint16_t *restrict green,
                     const uint16_t *restrict blue, uint8_t *restrict picture, int count) {
    int i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        __m256i known = _mm256_set1_epi32((int)pixel_of(levels, red[i], green[i], blue[i]));
        if (are_same(red + i) & are_same(green + i) & are_same(blue + i)) {
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

// Composite operations from bottom to top over columns [left, right) and rows [top, bottom) of a backdrop whose row `backdrop_row`
// begins at (left, top), and display-encode the result into a picture. `levels`: a level for each of the 65,536 patterns of a
// half float; without them the picture takes half floats of RGBA as they are. Works in strips of columns. Returns 0 if memory ran out.
int composite(const struct backdrop *on, int backdrop_row, const struct draw_op *ops, int count, const uint8_t *restrict levels,
             uint8_t *restrict picture, ptrdiff_t stride, int left, int top, int right, int bottom) {
    struct row r;
    struct piece *pieces = malloc((size_t)count * sizeof *pieces + 1);
    if (!pieces) return 0;
    for (int x = left, columns; x < right; x += columns) {
        columns = right - x < CHUNK ? right - x : CHUNK;
        struct piece *end = pieces + found_pieces(ops, count, &r, x, top, x + columns, bottom, pieces);
        for (int row = top; row < bottom; row++) {
            read_backdrop(on, &r, backdrop_row + row - top, x - left, columns);
            r.fine_first = x, r.fine_end = x + columns;
            for (struct piece *p = pieces; p < end; p++) {
                if (row >= p->top && row < p->bottom) composite_row(p, &r, row, x);
            }
            for (int channel = 0; channel < 3; channel++) patterns_of(r.scene[channel], r.patterns[channel], columns);
            uint8_t *shown = picture + row * stride + (levels ? 4 : 8) * (ptrdiff_t)x;
            if (levels) {
                shown_by(levels, r.patterns[0], r.patterns[1], r.patterns[2], shown, columns);
            } else {
                opaque_halves(r.patterns[0], r.patterns[1], r.patterns[2], shown, columns);
            }
        }
        for (struct piece *p = pieces; p < end; p++) free(p->texels.first);
    }
    free(pieces);
    return 1;
}
