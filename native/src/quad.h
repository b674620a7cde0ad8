// Geometry of the quad of a draw operation: its edges, positions of pixels on it, and their coverage.

#ifndef QUAD_H
#define QUAD_H

#include "draw_op.h"

// A line in frame space: `a * x + b * y + c` is positive on its inner side.
struct edge {
    double a, b, c;
};

enum { EDGES_MAX = 8 };

#define FOLD_MAX 0.375  // px by which a fold displaces a position: `FOLD_PX_MAX` of gpu_renderer/geometry/matrix.py

INLINE double larger(double one, double other) { return one > other ? one : other; }

// Return the line in frame space of a line on the unit square: `p * u + q * v + r` is positive on its inner side.
INLINE struct edge edge_of(const struct draw_op *op, double p, double q, double r) {
    const float *m = op->to_unit;
    struct edge found = {p * m[0] + q * m[1], p * m[3] + q * m[4], p * m[6] + q * m[7]};
    if (op->is_projective) {
        found.a += r * m[2], found.b += r * m[5], found.c += r * m[8];
    } else {
        found.c += r;
    }
    return found;
}

// Write the four edges of the unit square, moved inwards. Returns their count.
INLINE int quad_edges(const struct draw_op *op, struct edge *edges, double inset_u, double inset_v) {
    edges[0] = edge_of(op, 1, 0, -inset_u);
    edges[1] = edge_of(op, -1, 0, 1 - inset_u);
    edges[2] = edge_of(op, 0, 1, -inset_v);
    edges[3] = edge_of(op, 0, -1, 1 - inset_v);
    return 4;
}

// Write edges of the interior of a shape: no pixel inside them touches the shape's edge. Returns their count, 0 if there is no
// interior.
INLINE int interior_edges(const struct draw_op *op, struct edge *edges) {
    if (op->is_projective) return 0;
    const float *m = op->to_unit;
    double step_u = hypot(m[0], m[3]), step_v = hypot(m[1], m[4]), u, v, cut_u, cut_v;
    if (op->kind == ELLIPSE) {
        double radius = 0.5 - 1.5 * hypot(step_u, step_v);
        if (radius <= 0) return 0;
        u = v = 0.5 - 0.9238795325112867 * radius;    // cos(pi / 8)
        cut_u = cut_v = 0.5411961001461971 * radius;  // cos(pi / 8) - sin(pi / 8)
    } else {
        double width = op->shape.width, height = op->shape.height, inset = 1.5 * hypot(step_u * width, step_v * height);
        double shorter = width < height ? width : height,
               rounding = op->shape.radius > shorter / 2 ? shorter / 2 : op->shape.radius;
        double cut = rounding > inset ? rounding - inset : 0;
        u = larger(inset / width, step_u), v = larger(inset / height, step_v);
        cut_u = cut / width, cut_v = cut / height;
    }
    quad_edges(op, edges, u, v);
    if (cut_u <= 0 || cut_v <= 0) return 4;
    double p = 1 / cut_u, q = 1 / cut_v;
    edges[4] = edge_of(op, p, q, -p * u - q * v - 1);
    edges[5] = edge_of(op, -p, q, p * (1 - u) - q * v - 1);
    edges[6] = edge_of(op, p, -q, -p * u + q * (1 - v) - 1);
    edges[7] = edge_of(op, -p, -q, p * (1 - u) + q * (1 - v) - 1);
    return 8;
}

// Write edges that cut off the corners of an ellipse's quad. No pixel outside them touches the ellipse. Returns their count, 0 if
// a test would cost more than it saves.
INLINE int ellipse_edges(const struct draw_op *op, struct edge *edges) {
    enum { SAVED_MIN = 32 };  // columns of a row at a corner
    const float *m = op->to_unit;
    double margin = 1.5 * hypot(hypot(m[0], m[3]), hypot(m[1], m[4])), corner = 1 - 1.4142135623730951 * (0.5 + margin);
    if ((op->right - op->left) * corner < SAVED_MIN) return 0;
    edges[0] = edge_of(op, 1, 1, -corner);
    edges[1] = edge_of(op, -1, 1, 1 - corner);
    edges[2] = edge_of(op, 1, -1, 1 - corner);
    edges[3] = edge_of(op, -1, -1, 2 - corner);
    return 4;
}

// Write edges of the pixels whose position along a side of the texels lies between two texel centres: at most two.
// Positions on the quad are repeated beyond its edges, so a limit outside the quad is none.
INLINE int texel_limits(const struct draw_op *op, struct edge *edges, int is_down, double first, double last) {
    double count = is_down ? op->rows : op->columns, start = is_down ? op->crop.top : op->crop.left,
           extent = is_down ? op->crop.height : op->crop.width;
    double from = ((first + 0.5) / count - start) / extent, to = ((last + 0.5) / count - start) / extent;
    int found = 0;
    if (from > 0) edges[found++] = edge_of(op, !is_down, is_down, -from);
    if (to < 1) edges[found++] = edge_of(op, -!is_down, -is_down, to);
    return found;
}

// Return 1 if a rectangle of pixels lies in front of the horizon of the quad's plane. Behind it, edges have their inner side outside.
INLINE int is_before_horizon(const struct draw_op *op, int left, int top, int right, int bottom) {
    if (!op->is_projective) return 1;
    const float *m = op->to_unit;
    double x = m[2] < 0 ? right : left, y = m[5] < 0 ? bottom : top;
    return m[2] * x + m[5] * y + m[8] > 0;
}

// Write edges outside which all texels around a pixel are transparent. Returns their count.
INLINE int visible_edges(const struct draw_op *op, struct edge *edges) {
    const double margin = 1.25;  // a neighbour of a position, and rounding of single floats
    struct texel_rect r = op->visible;
    int count = texel_limits(op, edges, 0, r.left - margin, r.right - 1 + margin);
    return count + texel_limits(op, edges + count, 1, r.top - margin, r.bottom - 1 + margin);
}

// Write edges inside which all texels around a pixel are equal. Returns their count, 0 if no texels are.
INLINE int flat_edges(const struct draw_op *op, struct edge *edges) {
    const double margin = 0.25;  // rounding of single floats
    struct texel_rect r = op->flat;
    if (r.right - r.left < 2 || r.bottom - r.top < 2) return 0;
    double columns = op->columns, rows = op->rows, left = op->crop.left, top = op->crop.top;
    double width = op->crop.width, height = op->crop.height;
    edges[0] = edge_of(op, 1, 0, -((r.left + 0.5 + margin) / columns - left) / width);
    edges[1] = edge_of(op, -1, 0, ((r.right - 0.5 - margin) / columns - left) / width);
    edges[2] = edge_of(op, 0, 1, -((r.top + 0.5 + margin) / rows - top) / height);
    edges[3] = edge_of(op, 0, -1, ((r.bottom - 0.5 - margin) / rows - top) / height);
    return 4;
}

// Narrow columns [*first, *end) of a row to those whose centres lie at least `inset` px inside all edges.
INLINE void clip_span(const struct edge *edges, int count, int row, double inset, int *first, int *end) {
    double y = row + 0.5, left = *first, right = *end;
    for (const struct edge *edge = edges; edge < edges + count; edge++) {
        double rest = edge->b * y + edge->c - inset * (fabs(edge->a) + fabs(edge->b));
        if (edge->a == 0) {
            if (!(rest >= 0)) right = left;
        } else if (edge->a > 0) {
            double from = -rest / edge->a - 0.5;
            left = from > left ? from : left;
        } else {
            double to = -rest / edge->a + 0.5;
            right = to < right ? to : right;
        }
    }
    if (!(left < right)) {
        *end = *first;
        return;
    }
    int from = (int)ceil(left), to = (int)floor(right);  // stay inside the given columns even if an edge is NaN
    *first = from > *first ? from : *first;
    *end = to < *end ? to : *end;
    if (*end < *first) *end = *first;
}

// Return 1 if the corner (1, 1) of a quad does not follow from the other three. Homogeneous positions beyond the diagonal between the
// corners (1, 0) and (0, 1) are displaced by m[9] to m[11] for each unit of u + v - w, as by `unfolded` of
// shaders/include/plane.glsl.
INLINE int is_folded(const float *m) { return m[9] != 0.0f || m[10] != 0.0f || m[11] != 0.0f; }

// Return by how many units a homogeneous position lies beyond the diagonal.
INLINE float beyond_diagonal(float u, float v, float w) {
    float beyond = (u + v) - w;
    return select_float(beyond > 0.0f, beyond, 0.0f);
}

static void unfold(const float *restrict m, float *restrict u, float *restrict v, int count) {
    for (int i = 0; i < count; i++) {
        float beyond = beyond_diagonal(u[i], v[i], 1.0f);
        u[i] = u[i] - beyond * m[9];
        v[i] = v[i] - beyond * m[10];
    }
}

// Write positions of pixel centres on a draw operation's unit square, by an affine matrix, in the shader's order of additions.
static void affine_positions(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f;
        u[i] = by + (m[0] * x + m[6]);
        v[i] = ey + (m[1] * x + m[7]);
    }
    if (is_folded(m)) unfold(m, u, v, count);
}

static void projective_positions(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y, hy = m[5] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f, across = by + (m[0] * x + m[6]), down = ey + (m[1] * x + m[7]),
              far = hy + (m[2] * x + m[8]), beyond = beyond_diagonal(across, down, far);
        far = far - beyond * m[11];
        u[i] = (across - beyond * m[9]) / far;
        v[i] = (down - beyond * m[10]) / far;
    }
}

// Write affine positions relative to the square's centre, in the order of additions of the shader for shapes of one colour.
static void centred_positions(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f;
        u[i] = ((m[0] * x - 0.5f) + by) + m[6];
        v[i] = ((m[1] * x - 0.5f) + ey) + m[7];
    }
}

// Return 1 if the sample of a pixel at an offset from its centre lies on the quad.
INLINE int is_hit(const float *m, int is_projective, int row, int column, float right, float down) {
    float x = ((float)column + 0.5f + right) + 1.0f / 1024.0f, y = ((float)row + 0.5f + down) - 1.0f / 1024.0f;
    float u = m[3] * y + (m[0] * x + m[6]), v = m[4] * y + (m[1] * x + m[7]);
    float far = is_projective ? m[5] * y + (m[2] * x + m[8]) : 1.0f;
    if (is_folded(m)) {
        float beyond = beyond_diagonal(u, v, far);
        u = u - beyond * m[9], v = v - beyond * m[10], far = far - beyond * m[11];
    }
    return (u >= 0.0f) & (v >= 0.0f) & (u <= far) & (v <= far);
}

// `quad_coverage` for constant `is_projective` and `samples`.
INLINE void sample_quad(const float *m, int is_projective, int samples, int row, int first, int count, float *restrict covered) {
    for (int i = 0; i < count; i++) {
        int x = first + i;
        if (samples == 1) {
            covered[i] = (float)is_hit(m, is_projective, row, x, 0.0f, 0.0f);
        } else {
            int hits = is_hit(m, is_projective, row, x, -0.125f, 0.375f) + is_hit(m, is_projective, row, x, 0.375f, 0.125f) +
                       is_hit(m, is_projective, row, x, -0.375f, -0.125f) + is_hit(m, is_projective, row, x, 0.125f, -0.375f);
            covered[i] = (float)hits * 0.25f;
        }
    }
}

// Write the share of each pixel that the quad covers, from one sample or from the four samples of the rasteriser's pattern.
static void quad_coverage(const struct draw_op *op, int row, int first, int count, float *restrict covered) {
    if (op->samples == 1) {
        sample_quad(op->to_unit, op->is_projective, 1, row, first, count, covered);
    } else if (op->is_projective) {
        sample_quad(op->to_unit, 1, 4, row, first, count, covered);
    } else {
        sample_quad(op->to_unit, 0, 4, row, first, count, covered);
    }
}

#endif
