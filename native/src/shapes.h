// Shapes with soft edges, of one colour or a gradient.

#ifndef SHAPES_H
#define SHAPES_H

#include "places.h"

// How far places lie outside an ellipse, as shaders/include/sdf.glsl measures it.
static void beyond_ellipse(const float *restrict u, const float *restrict v, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        float across = u[i] * 2.0f, down = v[i] * 2.0f;
        found[i] = sqrtf(across * across + down * down) - 1.0f;
    }
}

static void beyond_rectangle(const float *restrict u, const float *restrict v, float width, float height, float radius,
                             float *restrict found, int count) {
    float inner_width = 0.5f * width - radius, inner_height = 0.5f * height - radius;
    for (int i = 0; i < count; i++) {
        float across = fabsf(u[i] * width) - inner_width, down = fabsf(v[i] * height) - inner_height;
        float out_across = picked(across > 0.0f, across, 0.0f), out_down = picked(down > 0.0f, down, 0.0f);
        float farther = picked(across > down, across, down);
        float length = sqrtf(out_across * out_across + out_down * out_down);
        found[i] = (length + picked(farther < 0.0f, farther, 0.0f)) - radius;
    }
}

static void distances(const struct draw_op *of, struct row *r, int row, int first, int count, float *restrict found) {
    if (of->is_projective || of->texels) {
        (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
        lessened(r->u, 0.5f, count);
        lessened(r->v, 0.5f, count);
    } else {
        from_middle(of->to_unit, row, first, count, r->u, r->v);
    }
    if (of->kind == ELLIPSE) {
        beyond_ellipse(r->u, r->v, found, count);
        return;
    }
    float width = of->own[0], height = of->own[1], shorter = width < height ? width : height;
    float radius = of->own[2] < 0.0f ? 0.0f : of->own[2];
    beyond_rectangle(r->u, r->v, width, height, radius > 0.5f * shorter ? 0.5f * shorter : radius, found, count);
}

// Change of the distance from pixel to pixel, in a pair of columns and a row and its other.
static void ramps(const float *restrict own, const float *restrict other, float *restrict found, int pairs) {
    for (int i = 0; i < pairs; i++) {
        float across = fabsf(own[2 * i + 1] - own[2 * i]);
        found[2 * i] = (across + fabsf(other[2 * i] - own[2 * i])) + 1e-6f;
        found[2 * i + 1] = (across + fabsf(other[2 * i + 1] - own[2 * i + 1])) + 1e-6f;
    }
}

// The share of each pixel that a soft edge leaves: a smooth step as wide as the ramp to both sides.
static void softened(const float *restrict distances, const float *restrict ramps, float *restrict inside, int count) {
    for (int i = 0; i < count; i++) {
        float t = clamped((distances[i] + ramps[i]) / (ramps[i] + ramps[i]), 0.0f, 1.0f);
        inside[i] = 1.0f - t * (t * (3.0f - 2.0f * t));
    }
}

// The same of a shape with a gradient: the share of the pixel that is covered. Of pairs of columns and a row and its other.
static void cut_off(const float *restrict own, const float *restrict other, float *restrict inside, int pairs) {
    for (int i = 0; i < pairs; i++) {
        float across = own[2 * i + 1] - own[2 * i];
        float down = other[2 * i] - own[2 * i], next_down = other[2 * i + 1] - own[2 * i + 1];
        float ramp = sqrtf(across * across + down * down) + 1e-6f;
        float next_ramp = sqrtf(across * across + next_down * next_down) + 1e-6f;
        inside[2 * i] = clamped(0.5f - own[2 * i] / ramp, 0.0f, 1.0f);
        inside[2 * i + 1] = clamped(0.5f - own[2 * i + 1] / next_ramp, 0.0f, 1.0f);
    }
}

// How much of each pixel lies within a shape, whose edge is as wide as the distance changes within blocks of two by two pixels.
static const float *insides(const struct draw_op *of, struct row *r, int row, int first, int count) {
    int from = first & ~1, all = ((first + count + 1) & ~1) - from, past = first - from;
    distances(of, r, row, from, all, r->distances[0]);
    distances(of, r, row ^ 1, from, all, r->distances[1]);
    if (of->texels) {
        cut_off(r->distances[0], r->distances[1], r->u, all / 2);
        return r->u + past;
    }
    ramps(r->distances[0], r->distances[1], r->u, all / 2);
    softened(r->distances[0] + past, r->u + past, r->v, count);
    return r->v;
}

static void faded(const float *restrict inside, float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (full * inside[i]) * opacity;
}

static void along(const float *restrict u, const float *restrict v, const float *restrict place, float *restrict offsets,
                  int count) {
    for (int i = 0; i < count; i++) offsets[i] = (place[2] + place[0] * u[i]) + place[1] * v[i];
}

static void outward(const float *restrict u, const float *restrict v, const float *restrict place, float *restrict offsets,
                    int count) {
    for (int i = 0; i < count; i++) {
        float across = (u[i] - place[0]) * place[2], down = (v[i] - place[1]) * place[3];
        offsets[i] = sqrtf(across * across + down * down);
    }
}

// How far each place is along a ramp.
static void ramp_shares(const float *restrict offsets, float start, float slope, float *restrict shares, int count) {
    for (int i = 0; i < count; i++) shares[i] = clamped((offsets[i] - start) * slope, 0.0f, 1.0f);
}

static void ramp_begun(const float *restrict shares, float colour, float added, float *restrict channel, int count) {
    for (int i = 0; i < count; i++) channel[i] = colour + shares[i] * added;
}

static void ramp_added(const float *restrict shares, float added, float *restrict channel, int count) {
    for (int i = 0; i < count; i++) channel[i] += shares[i] * added;
}

// True if a shape with a gradient is opaque inside its edge.
INLINE int is_opaque(const struct draw_op *of) {
    const float *colour = (const float *)of->texels + 4, *ramp = colour + 4;
    int is_so = of->opacity == 1.0f && colour[3] == 1.0f;
    for (int i = 0; i < of->columns; i++) is_so &= ramp[6 * i + 5] == 0.0f;
    return is_so;
}

// The colours of a gradient: r->source, and in r->alpha how opaque they are.
static void gradient(const struct draw_op *of, struct row *r, int row, int first, int count) {
    const float *place = of->texels, *colour = place + 4, *ramps = colour + 4;
    float *offsets = r->across, *shares = r->down, *found[4] = {r->source[0], r->source[1], r->source[2], r->alpha};
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    (of->rows == 2 ? outward : along)(r->u, r->v, place, offsets, count);
    for (int channel = 0; channel < 4 && !of->columns; channel++) set_all(found[channel], colour[channel], count);
    for (int i = 0; i < of->columns; i++) {
        const float *ramp = ramps + 6 * i;
        ramp_shares(offsets, ramp[0], ramp[1], shares, count);
        for (int channel = 0; channel < 4; channel++) {
            if (i == 0) {
                ramp_begun(shares, colour[channel], ramp[2 + channel], found[channel], count);
            } else if (ramp[2 + channel] != 0.0f) {
                ramp_added(shares, ramp[2 + channel], found[channel], count);
            }
        }
    }
    for (int channel = 0; channel < 3; channel++) made_linear(found[channel], gain_of(of, channel), count);
}

static void faded_by(const float *restrict inside, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (alpha[i] * inside[i]) * opacity;
}

// A shape's alpha, and its colours where they are a gradient's. `is_inside`: all of it lies within the edge.
static void shaped(const struct draw_op *of, struct row *r, int row, int first, int count, int is_inside) {
    const float *inside = is_inside ? 0 : insides(of, r, row, first, count);
    if (!of->texels) {
        if (inside) {
            faded(inside, of->color[3], of->opacity, r->alpha, count);
        } else {
            set_all(r->alpha, of->color[3] * of->opacity, count);
        }
        return;
    }
    if (inside) memcpy(r->distances[0], inside, (size_t)count * sizeof *inside);  // its room is needed
    gradient(of, r, row, first, count);
    if (inside) {
        faded_by(r->distances[0], of->opacity, r->alpha, count);
    } else {
        scaled(r->alpha, of->opacity, count);
    }
}

#endif
