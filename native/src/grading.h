// The colour stage of a layer over straight linear colours: shaders/include/color_stage.glsl.

#ifndef GRADING_H
#define GRADING_H

#include "draw_op.h"

// Linear Rec.709 to ACEScg.
static void to_aces_cg(float *restrict red, float *restrict green, float *restrict blue, int count) {
    for (int i = 0; i < count; i++) {
        float r = red[i], g = green[i], b = blue[i];
        red[i] = (g * 0.339523469f + b * 0.047379562f) + r * 0.613097396f;
        green[i] = (g * 0.916353879f + b * 0.013452032f) + r * 0.070194066f;
        blue[i] = (g * 0.109569769f + b * 0.869814633f) + r * 0.020615588f;
    }
}

static void apply_matrix(const float *restrict m, float *restrict red, float *restrict green, float *restrict blue, int count) {
    for (int i = 0; i < count; i++) {
        float r = red[i], g = green[i], b = blue[i];
        red[i] = clamp(((r * m[0] + g * m[3]) + b * m[6]) + m[9], 0.0f, 1.0f);
        green[i] = clamp(((r * m[1] + g * m[4]) + b * m[7]) + m[10], 0.0f, 1.0f);
        blue[i] = clamp(((r * m[2] + g * m[5]) + b * m[8]) + m[11], 0.0f, 1.0f);
    }
}

// Find the entry of each encoded colour in a table, and the weight of the next level, 0 to 1.
static void find_table_entries(const float *restrict colours, int32_t *restrict entries, float *restrict weights, int count) {
    for (int i = 0; i < count; i++) {
        float at = clamp(colours[i], 0.0f, 1.0f) * 256.0f - 0.5f;
        int32_t low = (int32_t)at - (at < 0.0f);  // floorf without a function call on processors that lack the instruction
        entries[i] = clamp_index(low + 1, TABLE_ENTRIES);
        weights[i] = at - (float)low;
    }
}

// Interpolate between the levels of a table, and decode the results.
static void look_up(const uint32_t *restrict table, const int32_t *restrict entries, const float *restrict weights,
                    float *restrict colours, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t both = table[entries[i]];
        float level = (float)(int32_t)(both & 0xffff) * (1.0f / 255.0f), next = (float)(int32_t)(both >> 16) * (1.0f / 255.0f);
        colours[i] = linear_of(level + weights[i] * (next - level));
    }
}

// Apply the tables to the encoded colours in s->source. The results are linear. Overwrites s->tap and s->fraction_x.
static void apply_tables(const struct grade *grade, struct strip *s, int count) {
    for (int channel = 0; channel < 3; channel++) {
        find_table_entries(s->source[channel], s->tap, s->fraction_x, count);
        look_up(grade->tables + TABLE_ENTRIES * channel, s->tap, s->fraction_x, s->source[channel], count);
    }
}

static int has_tables_alone(const struct grade *grade) { return grade->tables && !grade->has_matrix && !grade->is_aces; }

// Apply the colour stage to the linear colours in s->source.
static void apply_grade(const struct grade *grade, struct strip *s, int count) {
    float (*source)[CHUNK] = s->source;
    if (grade->is_aces) to_aces_cg(source[0], source[1], source[2], count);
    if (grade->has_matrix) apply_matrix(grade->matrix, source[0], source[1], source[2], count);
    if (!grade->tables) return;
    for (int channel = 0; channel < 3; channel++) encode_srgb(source[channel], count);
    apply_tables(grade, s, count);
}

#endif
