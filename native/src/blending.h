// What content puts over what is below it, in half floats: plainly, or by a blend mode.

#ifndef BLENDING_H
#define BLENDING_H

#include "coat.h"

// Colours that are premultiplied already.
static void lay(float *restrict below, const float *restrict colours, const float *restrict through, int count) {
    for (int i = 0; i < count; i++) below[i] = colours[i] + below[i] * through[i];
    cut_to_halves(below, count);
}

// One colour everywhere.
static void lay_flat(float *restrict below, float colour, float alpha, int count) {
    float ink = colour * alpha, through = 1.0f - alpha;
    if (alpha == 1.0f) {
        set_all(below, as_half(ink), count);
        return;
    }
    for (int i = 0; i < count; i++) below[i] = ink + below[i] * through;
    cut_to_halves(below, count);
}

// One colour by its alpha and what of each pixel is covered; all of it without `covered`.
static void lay_tinted(float *restrict below, float colour, const float *restrict alpha, const float *restrict covered,
                       int count) {
    if (covered) {
        for (int i = 0; i < count; i++) {
            below[i] = (colour * alpha[i]) * covered[i] + below[i] * (1.0f - alpha[i] * covered[i]);
        }
    } else {
        for (int i = 0; i < count; i++) below[i] = colour * alpha[i] + below[i] * (1.0f - alpha[i]);
    }
    cut_to_halves(below, count);
}

static void lay_straight(float *restrict below, const float *restrict colours, const float *restrict alpha,
                         const float *restrict covered, int count) {
    if (covered) {
        for (int i = 0; i < count; i++) {
            below[i] = (colours[i] * alpha[i]) * covered[i] + below[i] * (1.0f - alpha[i] * covered[i]);
        }
    } else {
        for (int i = 0; i < count; i++) below[i] = colours[i] * alpha[i] + below[i] * (1.0f - alpha[i]);
    }
    cut_to_halves(below, count);
}

// Colours that hide all that is below them.
static void lay_opaque(float *restrict below, const float *restrict colours, int count) {
    memcpy(below, colours, (size_t)count * sizeof *below);
    cut_to_halves(below, count);
}

// What lies below a blended layer, through 8 bits: `levels` of shaders/include/coarse.glsl.
static void coarsened(float *restrict below, int count) {
    for (int i = 0; i < count; i++) {
        float level = floorf(clamped(below[i], 0.0f, 1.0f) * 255.0f + 0.5f) * (1.0f / 255.0f);
        below[i] = float_of((bits_of(level) + 0x1000u) & 0xffffe000u);
    }
}

// Too little alpha to blend is none.
static void cut_alpha(const float *restrict covered, float *restrict alpha, int count) {
    for (int i = 0; i < count && covered; i++) alpha[i] *= covered[i];
    for (int i = 0; i < count; i++) alpha[i] = picked(alpha[i] < 1.0f / 255.0f, 0.0f, alpha[i]);
}

// What soft light makes of a backdrop under white.
INLINE float softer(float b) { return picked(b <= 0.25f, ((16.0f * b - 12.0f) * b + 4.0f) * b, sqrtf(b)); }

// Blend functions of shaders/include/blend.glsl over an opaque backdrop: b below, s the source's straight colour.
#define BLENDED(name, mixed)                                                                                                \
    static void name(float *restrict below, const float *restrict colours, const float *restrict alpha, int count) {       \
        for (int i = 0; i < count; i++) {                                                                                   \
            float b = below[i], s = clamped(colours[i], 0.0f, 1.0f), share = alpha[i], rest = 1.0f - share;                 \
            below[i] = fminf(share * (mixed) + rest * b, share + rest);                                                     \
        }                                                                                                                   \
        cut_to_halves(below, count);                                                                                        \
    }

BLENDED(multiply, b * s)
BLENDED(screen, b + s - b * s)
BLENDED(overlay, picked(2.0f * b <= 1.0f, 2.0f * b * s, 1.0f - 2.0f * (1.0f - b) * (1.0f - s)))
BLENDED(darken, fminf(b, s))
BLENDED(lighten, fmaxf(b, s))
BLENDED(color_dodge, picked(b <= 0.0f, 0.0f, picked(s >= 1.0f, 1.0f, fminf(1.0f, b / (1.0f - s)))))
BLENDED(color_burn, picked(b >= 1.0f, 1.0f, picked(s <= 0.0f, 0.0f, 1.0f - fminf(1.0f, (1.0f - b) / s))))
BLENDED(hard_light, picked(s <= 0.5f, 2.0f * b * s, 1.0f - 2.0f * (1.0f - b) * (1.0f - s)))
BLENDED(soft_light, picked(s <= 0.5f, b - (1.0f - 2.0f * s) * b * (1.0f - b), b + (2.0f * s - 1.0f) * (softer(b) - b)))
BLENDED(difference, fabsf(b - s))
BLENDED(exclusion, b + s - 2.0f * b * s)
BLENDED(linear_dodge, clamped(b + s, 0.0f, 1.0f))
BLENDED(subtract, clamped(b - s, 0.0f, 1.0f))

typedef void blend_function(float *restrict, const float *restrict, const float *restrict, int);

// The function of a mode; none where the loop does not know it, which coats.py sees to.
static blend_function *function_of(int mode) {
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
