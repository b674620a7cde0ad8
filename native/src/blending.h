// Source-over and blend modes over an opaque backdrop of half floats.

#ifndef BLENDING_H
#define BLENDING_H

#include "draw_op.h"

// Composite premultiplied colours over a backdrop. `transmittance`: share of the backdrop that shows through.
static void over(float *restrict below, const float *restrict colours, const float *restrict transmittance, int count) {
    for (int i = 0; i < count; i++) below[i] = colours[i] + below[i] * transmittance[i];
    truncate_to_halves(below, count);
}

// Composite one colour with one alpha over a backdrop.
static void over_flat(float *restrict below, float colour, float alpha, int count) {
    float source = colour * alpha, transmittance = 1.0f - alpha;
    if (alpha == 1.0f) {
        fill(below, truncate_to_half(source), count);
        return;
    }
    for (int i = 0; i < count; i++) below[i] = source + below[i] * transmittance;
    truncate_to_halves(below, count);
}

// Composite one colour over a backdrop, with alpha and coverage per pixel. Without `covered`, every pixel is covered.
static void over_one_colour(float *restrict below, float colour, const float *restrict alpha, const float *restrict covered,
                            int count) {
    if (covered) {
        for (int i = 0; i < count; i++) {
            below[i] = (colour * alpha[i]) * covered[i] + below[i] * (1.0f - alpha[i] * covered[i]);
        }
    } else {
        for (int i = 0; i < count; i++) below[i] = colour * alpha[i] + below[i] * (1.0f - alpha[i]);
    }
    truncate_to_halves(below, count);
}

static void over_straight(float *restrict below, const float *restrict colours, const float *restrict alpha,
                          const float *restrict covered, int count) {
    if (covered) {
        for (int i = 0; i < count; i++) {
            below[i] = (colours[i] * alpha[i]) * covered[i] + below[i] * (1.0f - alpha[i] * covered[i]);
        }
    } else {
        for (int i = 0; i < count; i++) below[i] = colours[i] * alpha[i] + below[i] * (1.0f - alpha[i]);
    }
    truncate_to_halves(below, count);
}

// Replace the backdrop with opaque colours.
static void over_opaque(float *restrict below, const float *restrict colours, int count) {
    memcpy(below, colours, (size_t)count * sizeof *below);
    truncate_to_halves(below, count);
}

// Quantise the backdrop of a blended layer to 8 bits: `levels` of shaders/include/quantise.glsl.
static void quantise(float *restrict below, int count) {
    for (int i = 0; i < count; i++) {
        float level = floorf(clamp(below[i], 0.0f, 1.0f) * 255.0f + 0.5f) * (1.0f / 255.0f);
        below[i] = float_of((bits_of(level) + 0x1000u) & 0xffffe000u);
    }
}

// Multiply alpha by coverage. Set results below 1/255 to 0, because blend modes skip these pixels.
static void prepare_alpha(const float *restrict covered, float *restrict alpha, int count) {
    for (int i = 0; i < count && covered; i++) alpha[i] *= covered[i];
    for (int i = 0; i < count; i++) alpha[i] = select_float(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i]);
}

// Soft light of white over a backdrop `b`.
INLINE float soft_light_of_white(float b) { return select_float(b <= 0.25f, ((16.0f * b - 12.0f) * b + 4.0f) * b, sqrtf(b)); }

// Blend functions of shaders/include/blend.glsl over an opaque backdrop: b below, s the source's straight colour.
#define BLENDED(name, mixed)                                                                                                       \
    static void name(float *restrict below, const float *restrict colours, const float *restrict alpha, int count) {               \
        for (int i = 0; i < count; i++) {                                                                                          \
            float b = below[i], s = clamp(colours[i], 0.0f, 1.0f), share = alpha[i], rest = 1.0f - share;                          \
            below[i] = fminf(share * (mixed) + rest * b, share + rest);                                                            \
        }                                                                                                                          \
        truncate_to_halves(below, count);                                                                                          \
    }

BLENDED(multiply, b * s)
BLENDED(screen, b + s - b * s)
BLENDED(overlay, select_float(2.0f * b <= 1.0f, 2.0f * b * s, 1.0f - 2.0f * (1.0f - b) * (1.0f - s)))
BLENDED(darken, fminf(b, s))
BLENDED(lighten, fmaxf(b, s))
BLENDED(color_dodge, select_float(b <= 0.0f, 0.0f, select_float(s >= 1.0f, 1.0f, fminf(1.0f, b / (1.0f - s)))))
BLENDED(color_burn, select_float(b >= 1.0f, 1.0f, select_float(s <= 0.0f, 0.0f, 1.0f - fminf(1.0f, (1.0f - b) / s))))
BLENDED(hard_light, select_float(s <= 0.5f, 2.0f * b * s, 1.0f - 2.0f * (1.0f - b) * (1.0f - s)))
BLENDED(soft_light,
        select_float(s <= 0.5f, b - (1.0f - 2.0f * s) * b * (1.0f - b), b + (2.0f * s - 1.0f) * (soft_light_of_white(b) - b)))
BLENDED(difference, fabsf(b - s))
BLENDED(exclusion, b + s - 2.0f * b * s)
BLENDED(linear_dodge, clamp(b + s, 0.0f, 1.0f))
BLENDED(subtract, clamp(b - s, 0.0f, 1.0f))

typedef void blend_function(float *restrict, const float *restrict, const float *restrict, int);

// Return the function of a mode, or 0. MODES_KNOWN of gpu_renderer/kernels/draw_ops.py lists the same modes.
static blend_function *blend_function_of(int mode) {
    switch (mode) {
        case 1: return multiply;
        case 2: return screen;
        case 3: return overlay;
        case 4: return darken;
        case 5: return lighten;
        case 6: return color_dodge;
        case 7: return color_burn;
        case 8: return hard_light;
        case 9: return soft_light;
        case 10: return difference;
        case 11: return exclusion;
        case 17: return linear_dodge;
        case 22: return subtract;
        default: return 0;
    }
}

#endif
