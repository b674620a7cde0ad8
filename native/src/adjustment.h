// Effects of an adjustment layer over an opaque backdrop: compositing/grade.frag, then pointwise passes.

#ifndef ADJUSTMENT_H
#define ADJUSTMENT_H

#include "grading.h"

enum pass_kind { RAMP_PASS, NOISE_PASS };

// A pointwise pass, packed by gpu_renderer/kernels/draw_ops.py: the uniforms of its shader.
struct pass {
    int32_t kind, is_monochrome;
    union {
        struct {  // effects/gradient_ramp.frag
            float slope[2], start, blend, first[4], second[4];
        } ramp;
        struct {  // effects/noise.frag
            float frame[2], amount, evolution, is_mirrored;
        } noise;
    };
};

INLINE float mix(float one, float other, float share) { return one + share * (other - one); }

static void ramp_pass(const struct pass *by, struct strip *s, int row, int first, int at, int count) {
    float down = by->ramp.slope[1] * ((float)row + 0.5f), across = by->ramp.slope[0], start = by->ramp.start;
    float blend = by->ramp.blend * 0.01f, alpha = by->ramp.first[3], last_alpha = by->ramp.second[3];
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f;
        s->u[i] = clamp((x * across + down) + start, 0.0f, 1.0f);
        s->v[i] = blend * mix(alpha, last_alpha, s->u[i]);
    }
    for (int channel = 0; channel < 3; channel++) {
        float *restrict colours = s->backdrop[channel] + at;
        float tone = by->ramp.first[channel], last_tone = by->ramp.second[channel];
        for (int i = 0; i < count; i++) {
            float own = clamp(colours[i], 0.0f, 1.0f);
            colours[i] = mix(own, mix(tone, last_tone, s->u[i]), s->v[i]);
        }
    }
}

// Write the hash `random` of effects/noise.frag at frame positions, 0 to 1. Its bytes depend on the order of all operations.
static void random_numbers(const struct pass *by, float scale, float moved, int row, int first, float *restrict found, int count) {
    float width = 1.0f / by->noise.frame[0], height = 1.0f / by->noise.frame[1];
    float y = (float)row + 0.5f, down = by->noise.is_mirrored > 0.0f ? by->noise.frame[1] - y : y;
    down = (scale * (down * height) + moved) * 78.233f;
    for (int i = 0; i < count; i++) {
        float at = (scale * (((float)(first + i) + 0.5f) * width) + moved) * 12.9898f + down;
        float turns = at * -0.15915494309f + 0.25f, z = 0.25f - fabsf(turns - rintf(turns)), square = z * z;
        float scaled = ((74.43889085f * square + -41.16936742f) * square + 6.282308546f) * z * 43758.5453f;
        found[i] = scaled - floorf(scaled);
    }
}

static void noise_pass(const struct pass *by, struct strip *s, int row, int first, int at, int count) {
    static const float scales[] = {1.0f, 1.3f, 1.7f}, steps[] = {0.01f, 0.02f, 0.03f};
    float amount = by->noise.amount;
    for (int channel = 0; channel < 3; channel++) {
        if (channel == 0 || !by->is_monochrome) {
            random_numbers(by, scales[channel], steps[channel] * by->noise.evolution, row, first, s->u, count);
        }
        float *restrict colours = s->backdrop[channel] + at;
        for (int i = 0; i < count; i++) colours[i] = clamp(colours[i] + (s->u[i] - 0.5f) * amount * 0.01f, 0.0f, 1.0f);
    }
}

// Run the colour stage and the passes of an adjustment layer over columns of a row. Each of them stores half floats.
static void adjust(const struct draw_op *op, struct strip *s, int row, int left, int first, int end) {
    int count = end - first, at = first - left;
    for (int channel = 0; channel < 3; channel++) {
        for (int i = 0; i < count; i++) s->source[channel][i] = clamp(s->backdrop[channel][at + i], 0.0f, 1.0f);
    }
    if (op->grade) apply_grade(op->grade, s, count);
    for (int channel = 0; channel < 3; channel++) {
        memcpy(s->backdrop[channel] + at, s->source[channel], (size_t)count * sizeof(float));
        truncate_to_halves(s->backdrop[channel] + at, count);
    }
    const struct pass *passes = op->texels;
    for (const struct pass *pass = passes; pass < passes + op->pass_count; pass++) {
        (pass->kind == RAMP_PASS ? ramp_pass : noise_pass)(pass, s, row, first, at, count);
        for (int channel = 0; channel < 3; channel++) truncate_to_halves(s->backdrop[channel] + at, count);
    }
}

#endif
