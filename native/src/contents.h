// Colours and alpha of the content of a draw operation.

#ifndef CONTENTS_H
#define CONTENTS_H

#include "grading.h"
#include "shapes.h"
#include "row_cache.h"

INLINE float linear_or_encoded(float colour, int is_linear) { return is_linear ? linear_of(colour) : colour; }

// Write straight colours of one channel of premultiplied pixels, times a gain: linear or encoded.
INLINE void straight_colours_of_pixels(const uint32_t *restrict pixels, int shift, int is_opaque, float gain, int is_linear,
                                       float *restrict colours, int count) {
    if (is_opaque) {
        for (int i = 0; i < count; i++) {
            colours[i] = linear_or_encoded(channel_of(pixels[i], shift) * gain, is_linear);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        float colour = channel_of(pixels[i], shift), alpha = channel_of(pixels[i], 24);
        colour = linear_or_encoded(clamp(colour / alpha, 0.0f, 1.0f) * gain, is_linear);
        colours[i] = select_float(alpha < 1.0f / 255.0f, 0.0f, colour);
    }
}

static void alphas_of_pixels(const uint32_t *restrict pixels, float opacity, float *restrict alphas, int count) {
    for (int i = 0; i < count; i++) alphas[i] = alpha_of_code(pixels[i] >> 24, 1.0f, opacity);
}

static int are_all_opaque(const uint32_t *restrict pixels, int count) {
    uint32_t all = 0xff000000u;
    for (int i = 0; i < count; i++) all &= pixels[i];
    return all == 0xff000000u;
}

// Write straight colours of one channel of premultiplied texels. `own`: their alpha. Opaque ones need no division.
static void straight_colours_of_texels(const float *restrict texels, const float *restrict own, float *restrict colours,
                                       int count) {
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
        colours[i] = select_float(own[i] < 1.0f / 255.0f, 0.0f, clamp(texels[i] / own[i], 0.0f, 1.0f));
    }
}

// Write straight colours and alpha of the premultiplied linear s->texels.
static void shade_texels(struct strip *s, float opacity, int count) {
    const float *own = s->texels[3];
    for (int channel = 0; channel < 3; channel++) straight_colours_of_texels(s->texels[channel], own, s->source[channel], count);
    for (int i = 0; i < count; i++) s->alpha[i] = select_float(own[i] < 1.0f / 255.0f, 0.0f, own[i]) * opacity;
}

static int has_one_colour(const struct draw_op *op) { return op->kind == COVERAGE || (is_shape(op) && !op->texels); }

// Shade an IMAGE from s->texels if it is exact, otherwise from the pixels in s->words[0].
INLINE void shade_image_ungraded(const struct draw_op *op, struct strip *s, int is_linear, int count) {
    if (op->is_exact) {
        shade_texels(s, op->opacity, count);
        for (int channel = 0; channel < 3; channel++) {
            (is_linear ? decode_srgb : multiply_all)(s->source[channel], gain_of(op, channel), count);
        }
        return;
    }
    int is_opaque = are_all_opaque(s->words[0], count);
    for (int channel = 0; channel < 3; channel++) {
        straight_colours_of_pixels(s->words[0], 8 * channel, is_opaque, gain_of(op, channel), is_linear, s->source[channel], count);
    }
    alphas_of_pixels(s->words[0], op->opacity, s->alpha, count);
}

// Shade an IMAGE and apply the colour stage. A stage with only tables reads the encoded colours directly.
static void shade_image(const struct draw_op *op, struct strip *s, int count) {
    if (op->grade && has_tables_alone(op->grade)) {
        shade_image_ungraded(op, s, 0, count);
        apply_tables(op->grade, s, count);
        return;
    }
    shade_image_ungraded(op, s, 1, count);
    if (op->grade) apply_grade(op->grade, s, count);
}

// Shade some columns of a row: s->alpha, and s->source unless the content has one colour. `cache`: filtered rows of its texels, or
// 0.
static void shade(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int first, int count,
                  int is_inside) {
    if (is_shape(op)) {
        shade_shape(op, s, row, first, count, is_inside);
        return;
    }
    if (op->kind == GROUP) {
        read_frame_pixels(op, s, row, first, count, s->texels);
        shade_texels(s, op->opacity, count);
        return;
    }
    if (cache) {
        sample_cached_rows(cache, s, first, count);
    } else {
        texel_positions(op, s, row, first, count);
    }
    if (op->kind == COVERAGE) {
        if (!cache) sample_coverage(op, s, count);
    } else if (op->kind == IMAGE) {
        if (!cache) (op->is_exact ? sample_bytes_in_floats : sample_pixels)(op, s, count);
        shade_image(op, s, count);
    } else {
        if (!cache) sample_texels(op, s, count);
        shade_texels(s, op->opacity, count);
    }
}

// Shade as `shade` does, and apply the colour stage.
static void shade_and_grade(const struct draw_op *op, struct row_cache *cache, struct strip *s, int row, int first, int count,
                            int is_inside) {
    shade(op, cache, s, row, first, count, is_inside);
    if (op->grade && op->kind != IMAGE && !has_one_colour(op)) apply_grade(op->grade, s, count);
}

#endif
