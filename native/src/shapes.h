// Shapes with soft edges, of one colour or a gradient.

#ifndef SHAPES_H
#define SHAPES_H

#include "quad.h"

static int is_shape(const struct draw_op *op) { return op->kind == RECTANGLE || op->kind == ELLIPSE; }

// True if a shape has no soft edge.
static int is_hard(const struct draw_op *op) { return is_shape(op) && op->shape.hardness > 0.5f; }

// Distances of positions from the edge of an ellipse, positive outside, as in shaders/include/sdf.glsl. Positions are relative to
// the centre.
static void ellipse_distances(const float *restrict u, const float *restrict v, float *restrict distances, int count) {
    for (int i = 0; i < count; i++) {
        float across = u[i] * 2.0f, down = v[i] * 2.0f;
        distances[i] = sqrtf(across * across + down * down) - 1.0f;
    }
}

static void rectangle_distances(const float *restrict u, const float *restrict v, float width, float height, float radius,
                                float *restrict distances, int count) {
    float inner_width = 0.5f * width - radius, inner_height = 0.5f * height - radius;
    for (int i = 0; i < count; i++) {
        float across = fabsf(u[i] * width) - inner_width, down = fabsf(v[i] * height) - inner_height;
        float out_across = select_float(across > 0.0f, across, 0.0f), out_down = select_float(down > 0.0f, down, 0.0f);
        float farther = select_float(across > down, across, down);
        float length = sqrtf(out_across * out_across + out_down * out_down);
        distances[i] = (length + select_float(farther < 0.0f, farther, 0.0f)) - radius;
    }
}

static void shape_distances(const struct draw_op *op, struct strip *s, int row, int first, int count, float *restrict distances) {
    if (op->is_projective || op->texels || is_folded(op->to_unit)) {
        (op->is_projective ? projective_positions : affine_positions)(op->to_unit, row, first, count, s->u, s->v);
        subtract_from_all(s->u, 0.5f, count);
        subtract_from_all(s->v, 0.5f, count);
    } else {
        centred_positions(op->to_unit, row, first, count, s->u, s->v);
    }
    if (op->kind == ELLIPSE) {
        ellipse_distances(s->u, s->v, distances, count);
        return;
    }
    float width = op->shape.width, height = op->shape.height, shorter = width < height ? width : height;
    float radius = op->shape.radius < 0.0f ? 0.0f : op->shape.radius;
    rectangle_distances(s->u, s->v, width, height, radius > 0.5f * shorter ? 0.5f * shorter : radius, distances, count);
}

// Write the width of the soft edge at each pixel: the change of the distance within its block of two by two pixels, as `fwidth` of
// GLSL. `own`, `other`: distances in the pixel's row, and in the other row of the block.
static void soft_edge_widths(const float *restrict own, const float *restrict other, float *restrict widths, int pairs) {
    for (int i = 0; i < pairs; i++) {
        float across = fabsf(own[2 * i + 1] - own[2 * i]);
        widths[2 * i] = (across + fabsf(other[2 * i] - own[2 * i])) + 1e-6f;
        widths[2 * i + 1] = (across + fabsf(other[2 * i + 1] - own[2 * i + 1])) + 1e-6f;
    }
}

// Write the coverage of shapes of one colour: a smooth step from one edge width inside the edge to one outside.
static void soft_edge_coverage(const float *restrict distances, const float *restrict widths, float *restrict coverage, int count) {
    for (int i = 0; i < count; i++) {
        float t = clamp((distances[i] + widths[i]) / (widths[i] + widths[i]), 0.0f, 1.0f);
        coverage[i] = 1.0f - t * (t * (3.0f - 2.0f * t));
    }
}

// Write the coverage of shapes with a gradient: a linear step one pixel wide. Arguments as for `soft_edge_widths`.
static void gradient_edge_coverage(const float *restrict own, const float *restrict other, float *restrict coverage, int pairs) {
    for (int i = 0; i < pairs; i++) {
        float across = own[2 * i + 1] - own[2 * i];
        float down = other[2 * i] - own[2 * i], next_down = other[2 * i + 1] - own[2 * i + 1];
        float ramp = sqrtf(across * across + down * down) + 1e-6f;
        float next_ramp = sqrtf(across * across + next_down * next_down) + 1e-6f;
        coverage[2 * i] = clamp(0.5f - own[2 * i] / ramp, 0.0f, 1.0f);
        coverage[2 * i + 1] = clamp(0.5f - own[2 * i + 1] / next_ramp, 0.0f, 1.0f);
    }
}

// Return the coverage of columns of a row by a shape, 0 to 1. The result is stored in s->u or s->v.
static const float *shape_coverage(const struct draw_op *op, struct strip *s, int row, int first, int count) {
    int from = first & ~1, past = first - from, all = whole_vectors(past + count);
    shape_distances(op, s, row, from, all, s->distances[0]);
    shape_distances(op, s, row ^ 1, from, all, s->distances[1]);
    if (op->texels) {
        gradient_edge_coverage(s->distances[0], s->distances[1], s->u, all / 2);
        return s->u + past;
    }
    soft_edge_widths(s->distances[0], s->distances[1], s->u, all / 2);
    soft_edge_coverage(s->distances[0] + past, s->u + past, s->v, count);
    return s->v;
}

static void one_colour_alpha(const float *restrict coverage, float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (full * coverage[i]) * opacity;
}

static void linear_gradient_offsets(const float *restrict u, const float *restrict v, const float *restrict place,
                                    float *restrict offsets, int count) {
    for (int i = 0; i < count; i++) offsets[i] = (place[2] + place[0] * u[i]) + place[1] * v[i];
}

static void radial_gradient_offsets(const float *restrict u, const float *restrict v, const float *restrict place,
                                    float *restrict offsets, int count) {
    for (int i = 0; i < count; i++) {
        float across = (u[i] - place[0]) * place[2], down = (v[i] - place[1]) * place[3];
        offsets[i] = sqrtf(across * across + down * down);
    }
}

// Write positions on a ramp, 0 at its start and 1 at its end.
static void ramp_positions(const float *restrict offsets, float start, float slope, float *restrict positions, int count) {
    for (int i = 0; i < count; i++) positions[i] = clamp((offsets[i] - start) * slope, 0.0f, 1.0f);
}

static void start_with_ramp(const float *restrict positions, float colour, float added, float *restrict channel, int count) {
    for (int i = 0; i < count; i++) channel[i] = colour + positions[i] * added;
}

static void add_ramp(const float *restrict positions, float added, float *restrict channel, int count) {
    for (int i = 0; i < count; i++) channel[i] += positions[i] * added;
}

// Return 1 if a shape with a gradient is opaque inside its edge.
INLINE int is_opaque_gradient(const struct draw_op *op) {
    const struct gradient *gradient = op->texels;
    int is_opaque = op->opacity == 1.0f && gradient->color[3] == 1.0f;
    for (int i = 0; i < op->ramp_count; i++) is_opaque &= gradient->ramps[i].added[3] == 0.0f;
    return is_opaque;
}

// Shade a gradient: straight linear colours in s->source, their alpha in s->alpha. `channel_count`: 3 to leave out the alpha.
static void shade_gradient(const struct draw_op *op, struct strip *s, int row, int first, int count, int channel_count) {
    const struct gradient *gradient = op->texels;
    float *offsets = s->fraction_x, *positions = s->fraction_y;
    float *channels[4] = {s->source[0], s->source[1], s->source[2], s->alpha};
    (op->is_projective ? projective_positions : affine_positions)(op->to_unit, row, first, count, s->u, s->v);
    (op->gradient_kind == RADIAL ? radial_gradient_offsets : linear_gradient_offsets)(s->u, s->v, gradient->place, offsets, count);
    for (int channel = 0; channel < channel_count && !op->ramp_count; channel++) {
        fill(channels[channel], gradient->color[channel], count);
    }
    for (int i = 0; i < op->ramp_count; i++) {
        const struct ramp *ramp = gradient->ramps + i;
        ramp_positions(offsets, ramp->start, ramp->slope, positions, count);
        for (int channel = 0; channel < channel_count; channel++) {
            if (ramp->added[channel] == 0.0f) {
                if (i == 0) fill(channels[channel], gradient->color[channel], count);
            } else if (i == 0) {
                start_with_ramp(positions, gradient->color[channel], ramp->added[channel], channels[channel], count);
            } else {
                add_ramp(positions, ramp->added[channel], channels[channel], count);
            }
        }
    }
    for (int channel = 0; channel < 3; channel++) decode_srgb(channels[channel], gain_of(op, channel), count);
}

static void multiply_alpha(const float *restrict coverage, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (alpha[i] * coverage[i]) * opacity;
}

// Shade a shape: s->alpha, and s->source for a gradient. `is_inside`: no pixel lies on the edge of the shape or of its quad. The
// alpha of an opaque gradient is written only if a blend mode reads it.
static void shade_shape(const struct draw_op *op, struct strip *s, int row, int first, int count, int is_inside) {
    const float *coverage = is_inside || is_hard(op) ? 0 : shape_coverage(op, s, row, first, count);
    if (!op->texels) {
        if (coverage) {
            one_colour_alpha(coverage, op->color[3], op->opacity, s->alpha, count);
        } else {
            fill(s->alpha, op->color[3] * op->opacity, count);
        }
        return;
    }
    if (coverage) memcpy(s->distances[0], coverage, (size_t)count * sizeof *coverage);  // shade_gradient overwrites s->u and s->v
    int is_alpha_unused = is_inside && !op->mode && is_opaque_gradient(op);
    shade_gradient(op, s, row, first, count, is_alpha_unused ? 3 : 4);
    if (is_alpha_unused) return;
    if (coverage) {
        multiply_alpha(s->distances[0], op->opacity, s->alpha, count);
    } else {
        multiply_all(s->alpha, op->opacity, count);
    }
}

#endif
