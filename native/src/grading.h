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

static void transformed(const float *restrict m, float *restrict red, float *restrict green, float *restrict blue, int count) {
    for (int i = 0; i < count; i++) {
        float r = red[i], g = green[i], b = blue[i];
        red[i] = clamped(((r * m[0] + g * m[3]) + b * m[6]) + m[9], 0.0f, 1.0f);
        green[i] = clamped(((r * m[1] + g * m[4]) + b * m[7]) + m[10], 0.0f, 1.0f);
        blue[i] = clamped(((r * m[2] + g * m[5]) + b * m[8]) + m[11], 0.0f, 1.0f);
    }
}

// Between which entries of a table each encoded colour lies, and how far from the first one.
static void table_places(const float *restrict colours, int32_t *restrict entries, float *restrict shares, int count) {
    for (int i = 0; i < count; i++) {
        float at = clamped(colours[i], 0.0f, 1.0f) * 256.0f - 0.5f;
        int32_t low = (int32_t)at - (at < 0.0f);  // the floor, without a call on old processors
        entries[i] = within(low + 1, TABLE_ENTRIES);
        shares[i] = at - (float)low;
    }
}

// Linear colours of the levels between entries of a table.
static void looked_up(const uint32_t *restrict table, const int32_t *restrict entries, const float *restrict shares,
                      float *restrict colours, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t both = table[entries[i]];
        float level = (float)(int32_t)(both & 0xffff) * (1.0f / 255.0f), next = (float)(int32_t)(both >> 16) * (1.0f / 255.0f);
        colours[i] = linear_of(level + shares[i] * (next - level));
    }
}

// Apply the tables to r->source, encoded colours. The results are linear. Overwrites r->first and r->across.
static void tabled(const struct grade *by, struct row *r, int count) {
    for (int channel = 0; channel < 3; channel++) {
        table_places(r->source[channel], r->first, r->across, count);
        looked_up(by->tables + TABLE_ENTRIES * channel, r->first, r->across, r->source[channel], count);
    }
}

static int is_table_alone(const struct grade *by) { return by->tables && !by->has_matrix && !by->is_aces; }

// Apply the stage to r->source, linear colours.
static void graded(const struct grade *by, struct row *r, int count) {
    float(*source)[CHUNK] = r->source;
    if (by->is_aces) to_aces_cg(source[0], source[1], source[2], count);
    if (by->has_matrix) transformed(by->matrix, source[0], source[1], source[2], count);
    if (!by->tables) return;
    for (int channel = 0; channel < 3; channel++) made_encoded(source[channel], count);
    tabled(by, r, count);
}

#endif
