// Colours and alpha of the content of a draw operation.

#ifndef CONTENTS_H
#define CONTENTS_H

#include "grading.h"
#include "shapes.h"
#include "upright.h"

INLINE float linear_or_encoded(float colour, int is_linear) { return is_linear ? linear_of(colour) : colour; }

// Straight colours of one channel of premultiplied pixels, times a gain of the encoded colours.
INLINE void colours_of(const uint32_t *restrict pixels, int shift, int is_opaque, float gain, int is_linear, float *restrict colours,
                       int count) {
    if (is_opaque) {
        for (int i = 0; i < count; i++) {
            colours[i] = linear_or_encoded(channel_of(pixels[i], shift) * gain, is_linear);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        float colour = channel_of(pixels[i], shift), alpha = channel_of(pixels[i], 24);
        colour = linear_or_encoded(clamped(colour / alpha, 0.0f, 1.0f) * gain, is_linear);
        colours[i] = picked(alpha < 1.0f / 255.0f, 0.0f, colour);
    }
}

static void alphas_of(const uint32_t *restrict pixels, float opacity, float *restrict alphas, int count) {
    for (int i = 0; i < count; i++) alphas[i] = alpha_of(pixels[i] >> 24, 1.0f, opacity);
}

static int are_opaque(const uint32_t *restrict pixels, int count) {
    uint32_t all = 0xff000000u;
    for (int i = 0; i < count; i++) all &= pixels[i];
    return all == 0xff000000u;
}

// Straight colours of one channel of premultiplied texels. Opaque ones need no division.
static void straight_colours(const float *restrict texels, const float *restrict own, float *restrict colours, int count) {
    int i = 0;
#ifdef __AVX2__
    __m256 one = _mm256_set1_ps(1.0f), least = _mm256_set1_ps(1.0f / 255.0f);
    for (; i + 8 <= count; i += 8) {
        __m256 alpha = _mm256_loadu_ps(own + i), colour = _mm256_loadu_ps(texels + i);
        if (_mm256_movemask_ps(_mm256_cmp_ps(alpha, one, _CMP_NEQ_OQ))) {
            colour = _mm256_and_ps(_mm256_div_ps(colour, alpha), _mm256_cmp_ps(alpha, least, _CMP_NLT_UQ));
        }
        _mm256_storeu_ps(colours + i, _mm256_min_ps(_mm256_max_ps(colour, _mm256_setzero_ps()), one));
    }
#endif
    for (; i < count; i++) {
        colours[i] = picked(own[i] < 1.0f / 255.0f, 0.0f, clamped(texels[i] / own[i], 0.0f, 1.0f));
    }
}

// Straight colours and alpha of premultiplied linear texels.
static void straightened(struct row *r, float opacity, int count) {
    const float *own = r->texels[3];
    for (int channel = 0; channel < 3; channel++) straight_colours(r->texels[channel], own, r->source[channel], count);
    for (int i = 0; i < count; i++) r->alpha[i] = picked(own[i] < 1.0f / 255.0f, 0.0f, own[i]) * opacity;
}

static int is_shape(const struct draw_op *of) { return of->kind == RECTANGLE || of->kind == ELLIPSE; }

// True if a shape has no soft edge.
static int is_hard(const struct draw_op *of) { return is_shape(of) && of->own[3] > 0.5f; }

static int is_of_one_colour(const struct draw_op *of) {
    return of->kind == COVERAGE || (is_shape(of) && !of->texels);
}

// Straight colours and alpha of an IMAGE from its texels or pixels.
INLINE void image_colours(const struct draw_op *of, struct row *r, int is_linear, int count) {
    if (of->is_exact) {
        straightened(r, of->opacity, count);
        for (int channel = 0; channel < 3; channel++) {
            (is_linear ? made_linear : scaled)(r->source[channel], gain_of(of, channel), count);
        }
        return;
    }
    int is_opaque = are_opaque(r->found[0], count);
    for (int channel = 0; channel < 3; channel++) {
        colours_of(r->found[0], 8 * channel, is_opaque, gain_of(of, channel), is_linear, r->source[channel], count);
    }
    alphas_of(r->found[0], of->opacity, r->alpha, count);
}

// Graded linear colours and alpha of an IMAGE. Tables take its encoded colours as they are.
static void graded_image(const struct draw_op *of, struct row *r, int count) {
    if (of->grade && is_table_alone(of->grade)) {
        image_colours(of, r, 0, count);
        tabled(of->grade, r, count);
        return;
    }
    image_colours(of, r, 1, count);
    if (of->grade) graded(of->grade, r, count);
}

// Shade some columns of a row: r->alpha, and r->source unless the content has one colour. `k`: filtered rows of its texels, or 0.
static void shaded(const struct draw_op *of, struct row_cache *k, struct row *r, int row, int first, int count, int is_inside) {
    if (is_shape(of)) {
        shaped(of, r, row, first, count, is_inside || is_hard(of));
        return;
    }
    if (of->kind == GROUP) {
        own_pixels(of, r, row, first, count, r->texels);
        straightened(r, of->opacity, count);
        return;
    }
    if (k) {
        found_upright(k, r, first, count);
    } else {
        placed(of, r, row, first, count);
    }
    if (of->kind == COVERAGE) {
        if (!k) coverage_alpha(of, r, count);
    } else if (of->kind == IMAGE) {
        if (!k) (of->is_exact ? found_exact : found_pixels)(of, r, count);
        graded_image(of, r, count);
    } else {
        if (!k) found_numbers(of, r, count);
        straightened(r, of->opacity, count);
    }
}

// Shade as `shaded` does, and apply the colour stage.
static void drawn(const struct draw_op *of, struct row_cache *k, struct row *r, int row, int first, int count, int is_inside) {
    shaded(of, k, r, row, first, count, is_inside);
    if (of->grade && of->kind != IMAGE && !is_of_one_colour(of)) graded(of->grade, r, count);
}

#endif
