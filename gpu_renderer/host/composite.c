// Layers laid over what is below them, row by row, in single floats: what shaders/compositing/quad.frag and layer.frag draw on
// a software rasteriser, number for number. Each step is rounded as its own there; filters of half and single floats fuse one
// multiplication with one addition. Colours are linear.

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__)
#include <immintrin.h>
#endif

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx2", "default")))  // chosen when the library is loaded
#define FUSED __attribute__((target_clones("fma", "default")))
#else
#define VECTORS
#define FUSED
#endif
#define INLINE static inline __attribute__((always_inline))

enum { CHUNK = 512 };  // columns at a time: their numbers stay in the first cache

enum kind { PLANES, RECTANGLE, ELLIPSE, COVERAGE, PICTURE, CELLS, HALF_CELLS, GROUP, BUFFER, LIT_BUFFER, LIGHT, COARSE };

// What is laid over what is below it: packed by loops.py, of layers by coats.py.
struct coat {
    int32_t kind, samples, is_projective, is_nearest;
    int32_t mode;                      // of shaders/include/blend.glsl; 0 is plainly over what is below
    int32_t left, top, right, bottom;  // the pixels of the frame that it may touch
    float to_unit[9];                  // frame px to the unit square of its quad, column by column
    float opacity, color[4];           // linear, straight
    float own[4];                      // a shape's width, height, radius and 1 without a soft edge; the part of a picture shown;
                                       // of what has texels of the frame's own pixels, or cells, where they are
    float share;                       // of light: cells a frame px
    int32_t columns, rows;             // of a gradient how many ramps it has, and 1 linear, 2 radial
    const void *texels;                // bytes of coverage, bytes of RGBA, or RGBA of floats or, of HALF_CELLS and of the frame's own
                                       // pixels, half floats; of PLANES floats of R, G, B and what shows through, plane by plane;
                                       // of a gradient where it lies, its first colour, and of each ramp where it begins, its
                                       // slope and what it adds
    const struct coat *light;          // behind a LIT_BUFFER
    const struct coat *matte;          // of light and buffers: half floats of the frame's own pixels, its `mode` that of
                                       // shaders/include/matte.glsl
    const uint8_t *mask;               // coverage all over the unit square, of a picture or coverage
    int32_t mask_columns, mask_rows;
};

// What all coats lie on: `linear[code]` of footage, or half floats of RGBA, or one colour.
struct ground {
    const uint8_t *footage;
    const float *linear;
    const uint16_t *halves;
    ptrdiff_t stride;  // bytes
    float color[3];
};

struct row {
    float scene[3][CHUNK];                // what is below, as half floats hold it
    float ink[3][CHUNK], through[CHUNK];  // what is laid over it: premultiplied, and the share of what is below that shows
    float alpha[CHUNK], covered[CHUNK];
    float u[CHUNK + 2], v[CHUNK + 2];     // of one column more on both sides
    float distances[2][CHUNK + 2];
    int32_t first[CHUNK];                 // the upper left of the four texels around each place, and from it to the next ones
    int32_t right[CHUNK], below[CHUNK];
    float across[CHUNK], down[CHUNK];     // and how far the place is from it, in texels
    uint32_t shares[2][CHUNK];            // the same in 256 parts
    uint32_t found[4][CHUNK];
    float texels[4 * CHUNK], sharp[4 * CHUNK];
    uint16_t patterns[3][CHUNK];
};

// ------------------------------------------------------------------------------------------------------------- half floats

#define HALF_MIN 6.103515625e-05f  // the smallest half float of full precision
#define HALF_STEPS 16777216.0f     // of the halves below it, to one

INLINE uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

// One of two words without a branch, which would keep the loop from being done by vectors.
INLINE uint32_t chosen(int is_first, uint32_t first, uint32_t second) {
    uint32_t mask = -(uint32_t)is_first;
    return (first & mask) | (second & ~mask);
}

INLINE float picked(int is_first, float first, float second) {
    return float_of(chosen(is_first, bits_of(first), bits_of(second)));
}

// A number as a half float would hold it, cut off.
INLINE float as_half(float number) {
    float small = (float)(int32_t)(number * HALF_STEPS) * (1.0f / HALF_STEPS);
    return picked(fabsf(number) < HALF_MIN, small, float_of(bits_of(number) & ~0x1fffu));
}

// The pattern of a half float.
INLINE uint16_t pattern_of(float half) {
    uint32_t bits = bits_of(half), size = bits & 0x7fffffffu;
    uint32_t pattern = chosen(size < 113u << 23, (uint32_t)(int32_t)(fabsf(half) * HALF_STEPS), (size >> 13) - (112u << 10));
    return (uint16_t)(pattern | (bits >> 16 & 0x8000u));
}

INLINE float half_of(uint16_t pattern) {
    float size = float_of((uint32_t)(pattern & 0x7fff) << 13) * 5.192296858534828e33f;  // 2^112
    return float_of(bits_of(size) | (uint32_t)(pattern & 0x8000) << 16);
}

INLINE float clamped(float number, float least, float most) {
    number = picked(number > least, number, least);
    return picked(number < most, number, most);
}

// The linear colour of a straight encoded one: `srgb_to_linear` of shaders/include/color.glsl.
INLINE float linear_of(float c) {
    float square = c * c, high = (c * 0.0830104553f - 0.299013667f) * square + (c * 0.661667547f + 0.520807502f);
    float curve = high * square + (c * 0.0326089217f + 0.000920741187f);
    return picked(c >= 0.04045f, curve, c / 12.92f);
}

// What blending leaves in half floats.
VECTORS static void lay(float *restrict below, const float *restrict colours, const float *restrict through, int count) {
    for (int i = 0; i < count; i++) below[i] = as_half(colours[i] + below[i] * through[i]);
}

VECTORS static void lay_flat(float *restrict below, float colour, float through, int count) {
    for (int i = 0; i < count; i++) below[i] = as_half(colour + below[i] * through);
}

VECTORS static void set_all(float *restrict numbers, float number, int count) {
    for (int i = 0; i < count; i++) numbers[i] = number;
}

VECTORS static void patterns_of(const float *restrict halves, uint16_t *restrict patterns, int count) {
    for (int i = 0; i < count; i++) patterns[i] = pattern_of(halves[i]);
}

// ------------------------------------------------------------------------------------------------------------------ places

// A line of the frame: `a * x + b * y + c` is positive on its inner side.
struct edge {
    double a, b, c;
};

enum { EDGES_MAX = 8 };

INLINE double at_least(double one, double other) { return one > other ? one : other; }

// An edge of the unit square of a coat: `p * u + q * v + r >= 0`.
INLINE struct edge edge_of(const struct coat *of, double p, double q, double r) {
    const float *m = of->to_unit;
    struct edge found = {p * m[0] + q * m[1], p * m[3] + q * m[4], p * m[6] + q * m[7]};
    if (of->is_projective) {
        found.a += r * m[2], found.b += r * m[5], found.c += r * m[8];
    } else {
        found.c += r;
    }
    return found;
}

INLINE int square_of(const struct coat *of, struct edge *edges, double inset_u, double inset_v) {
    edges[0] = edge_of(of, 1, 0, -inset_u);
    edges[1] = edge_of(of, -1, 0, 1 - inset_u);
    edges[2] = edge_of(of, 0, 1, -inset_v);
    edges[3] = edge_of(of, 0, -1, 1 - inset_v);
    return 4;
}

// What lies so far within the edge of a shape that no pixel of it is touched by it, as edges; none where that is not known.
// The same octagons as in compositing/outlines.py.
INLINE int inner_of(const struct coat *of, struct edge *edges) {
    if (of->is_projective) return 0;
    const float *m = of->to_unit;
    double step_u = hypot(m[0], m[3]), step_v = hypot(m[1], m[4]), u, v, cut_u, cut_v;
    if (of->kind == ELLIPSE) {
        double radius = 0.5 - 1.5 * hypot(step_u, step_v);
        if (radius <= 0) return 0;
        u = v = 0.5 - 0.9238795325112867 * radius;         // cos(pi / 8)
        cut_u = cut_v = 0.5411961001461971 * radius;       // less its sine
    } else {
        double width = of->own[0], height = of->own[1], inset = 1.5 * hypot(step_u * width, step_v * height);
        double shorter = width < height ? width : height, rounding = of->own[2] > shorter / 2 ? shorter / 2 : of->own[2];
        double cut = rounding > inset ? rounding - inset : 0;
        u = at_least(inset / width, step_u), v = at_least(inset / height, step_v);
        cut_u = cut / width, cut_v = cut / height;
    }
    square_of(of, edges, u, v);
    if (cut_u <= 0 || cut_v <= 0) return 4;
    double p = 1 / cut_u, q = 1 / cut_v;
    edges[4] = edge_of(of, p, q, -p * u - q * v - 1);
    edges[5] = edge_of(of, -p, q, p * (1 - u) - q * v - 1);
    edges[6] = edge_of(of, p, -q, -p * u + q * (1 - v) - 1);
    edges[7] = edge_of(of, -p, -q, p * (1 - u) + q * (1 - v) - 1);
    return 8;
}

// The columns [*first, *end) of a row whose middles lie at least `inset` px, or a little more, within all edges.
INLINE void span_of(const struct edge *edges, int count, int row, double inset, int *first, int *end) {
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
    *first = (int)ceil(left), *end = (int)floor(right);
    if (*end < *first) *end = *first;
}

// Where the middles of pixels lie on the unit square of a coat.
VECTORS static void affine(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f;
        u[i] = by + (m[0] * x + m[6]);
        v[i] = ey + (m[1] * x + m[7]);
    }
}

VECTORS static void projective(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y, hy = m[5] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f, far = hy + (m[2] * x + m[8]);
        u[i] = (by + (m[0] * x + m[6])) / far;
        v[i] = (ey + (m[1] * x + m[7])) / far;
    }
}

// The same from the square's middle, in the order that the shader of a shape of one colour adds: it asks for nothing else.
VECTORS static void from_middle(const float *restrict m, int row, int first, int count, float *restrict u, float *restrict v) {
    float y = (float)row + 0.5f, by = m[3] * y, ey = m[4] * y;
    for (int i = 0; i < count; i++) {
        float x = (float)(first + i) + 0.5f;
        u[i] = ((m[0] * x - 0.5f) + by) + m[6];
        v[i] = ((m[1] * x - 0.5f) + ey) + m[7];
    }
}

VECTORS static void lessened(float *restrict numbers, float by, int count) {
    for (int i = 0; i < count; i++) numbers[i] -= by;
}

// Whether each column's sample at an offset lies on the quad, as 0 or 1, added up.
VECTORS static void held(const float *restrict m, int is_projective, int row, int first, int count, float right, float down,
                         float *restrict covered) {
    float y = ((float)row + 0.5f + down) - 1.0f / 1024.0f, by = m[3] * y, ey = m[4] * y, hy = m[5] * y;
    float across = is_projective ? m[2] : 0.0f, rest = is_projective ? m[8] : 1.0f;
    hy = is_projective ? hy : 0.0f;
    for (int i = 0; i < count; i++) {
        float x = ((float)(first + i) + 0.5f + right) + 1.0f / 1024.0f;
        float u = by + (m[0] * x + m[6]), v = ey + (m[1] * x + m[7]), far = hy + (across * x + rest);
        int is_held = (u >= 0.0f) & (v >= 0.0f) & (u <= far) & (v <= far);
        covered[i] += (float)is_held;
    }
}

VECTORS static void quartered(float *restrict covered, int count) {
    for (int i = 0; i < count; i++) covered[i] *= 0.25f;
}

// The share of each pixel that the quad covers.
static void coverage(const struct coat *of, int row, int first, int count, float *restrict covered) {
    const float *m = of->to_unit;
    int is_projective = of->is_projective;
    set_all(covered, 0.0f, count);
    if (of->samples == 1) {
        held(m, is_projective, row, first, count, 0.0f, 0.0f, covered);
        return;
    }
    held(m, is_projective, row, first, count, -0.125f, -0.375f, covered);
    held(m, is_projective, row, first, count, 0.375f, -0.125f, covered);
    held(m, is_projective, row, first, count, -0.375f, 0.125f, covered);
    held(m, is_projective, row, first, count, 0.125f, 0.375f, covered);
    quartered(covered, count);
}

// ------------------------------------------------------------------------------------------------------------------ shapes

// How far places lie outside an ellipse, as shaders/include/sdf.glsl measures it.
VECTORS static void beyond_ellipse(const float *restrict u, const float *restrict v, float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        float across = u[i] * 2.0f, down = v[i] * 2.0f;
        found[i] = sqrtf(across * across + down * down) - 1.0f;
    }
}

VECTORS static void beyond_rectangle(const float *restrict u, const float *restrict v, float width, float height, float radius,
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

static void distances(const struct coat *of, struct row *r, int row, int first, int count, float *restrict found) {
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

// Of pairs of columns and a row and its other: how much the distance changes from pixel to pixel.
VECTORS static void ramps(const float *restrict own, const float *restrict other, float *restrict found, int pairs) {
    for (int i = 0; i < pairs; i++) {
        float across = fabsf(own[2 * i + 1] - own[2 * i]);
        found[2 * i] = (across + fabsf(other[2 * i] - own[2 * i])) + 1e-6f;
        found[2 * i + 1] = (across + fabsf(other[2 * i + 1] - own[2 * i + 1])) + 1e-6f;
    }
}

// The share of each pixel that a soft edge leaves: a smooth step as wide as the ramp to both sides.
VECTORS static void softened(const float *restrict distances, const float *restrict ramps, float *restrict inside, int count) {
    for (int i = 0; i < count; i++) {
        float t = clamped((distances[i] + ramps[i]) / (ramps[i] + ramps[i]), 0.0f, 1.0f);
        inside[i] = 1.0f - t * (t * (3.0f - 2.0f * t));
    }
}

// The same of a shape with a gradient: the share of the pixel that is covered. Of pairs of columns and a row and its other.
VECTORS static void cut_off(const float *restrict own, const float *restrict other, float *restrict inside, int pairs) {
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
static const float *insides(const struct coat *of, struct row *r, int row, int first, int count) {
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

VECTORS static void faded(const float *restrict inside, float full, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (full * inside[i]) * opacity;
}

VECTORS static void along(const float *restrict u, const float *restrict v, const float *restrict place,
                          float *restrict offsets, int count) {
    for (int i = 0; i < count; i++) offsets[i] = (place[2] + place[0] * u[i]) + place[1] * v[i];
}

VECTORS static void outward(const float *restrict u, const float *restrict v, const float *restrict place,
                            float *restrict offsets, int count) {
    for (int i = 0; i < count; i++) {
        float across = (u[i] - place[0]) * place[2], down = (v[i] - place[1]) * place[3];
        offsets[i] = sqrtf(across * across + down * down);
    }
}

VECTORS static void ramped(const float *restrict offsets, float start, float slope, float added, float *restrict channel,
                           int count) {
    for (int i = 0; i < count; i++) channel[i] += clamped((offsets[i] - start) * slope, 0.0f, 1.0f) * added;
}

VECTORS static void made_linear(float *restrict colours, int count) {
    for (int i = 0; i < count; i++) colours[i] = linear_of(colours[i]);
}

// The colours of a gradient: r->ink, and in r->alpha how opaque they are.
static void graded(const struct coat *of, struct row *r, int row, int first, int count) {
    const float *place = of->texels, *colour = place + 4, *ramp = colour + 4;
    float *offsets = r->across;
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    (of->rows == 2 ? outward : along)(r->u, r->v, place, offsets, count);
    for (int channel = 0; channel < 4; channel++) {
        float *found = channel < 3 ? r->ink[channel] : r->alpha;
        set_all(found, colour[channel], count);
        for (int i = 0; i < of->columns; i++) {
            ramped(offsets, ramp[6 * i], ramp[6 * i + 1], ramp[6 * i + 2 + channel], found, count);
        }
        if (channel < 3) made_linear(found, count);
    }
}

VECTORS static void faded_by(const float *restrict inside, float opacity, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) alpha[i] = (alpha[i] * inside[i]) * opacity;
}

VECTORS static void scaled(float *restrict numbers, float by, int count) {
    for (int i = 0; i < count; i++) numbers[i] *= by;
}

// A shape's alpha, and its colours where they are a gradient's. `is_inside`: all of it lies within the edge.
static void shaped(const struct coat *of, struct row *r, int row, int first, int count, int is_inside) {
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
    graded(of, r, row, first, count);
    if (inside) {
        faded_by(r->distances[0], of->opacity, r->alpha, count);
    } else {
        scaled(r->alpha, of->opacity, count);
    }
}

// One colour over some columns that it covers wholly.
static void flat(const struct coat *of, struct row *r, int at, int count) {
    float alpha = of->color[3] * of->opacity;
    for (int channel = 0; channel < 3; channel++) {
        float colour = of->color[channel] * alpha;
        if (alpha == 1.0f) {
            set_all(r->scene[channel] + at, as_half(colour), count);
        } else {
            lay_flat(r->scene[channel] + at, colour, 1.0f - alpha, count);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------- pictures

VECTORS static void limited(float *restrict numbers, int count) {
    for (int i = 0; i < count; i++) {
        float number = picked(numbers[i] > 0.0f, numbers[i], 0.0f);
        numbers[i] = picked(number < 1.0f, number, 1.0f);
    }
}

VECTORS static void part_shown(float *restrict numbers, float from, float part, int count) {
    for (int i = 0; i < count; i++) numbers[i] = from + numbers[i] * part;
}

INLINE int32_t within(int32_t texel, int32_t count) {
    texel = texel < 0 ? 0 : texel;
    return texel < count ? texel : count - 1;
}

// The nearest texel of each place.
VECTORS static void nearest(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows,
                            int32_t *restrict first, int count) {
    for (int i = 0; i < count; i++) {
        int32_t x = (int32_t)clamped(u[i] * (float)columns, 0.0f, (float)(columns - 1));
        int32_t y = (int32_t)clamped(v[i] * (float)rows, 0.0f, (float)(rows - 1));
        first[i] = y * columns + x;
    }
}

// What a filter of 8 bits picks: places in 256 parts of a texel, rounded to the nearest, the even one of two.
INLINE int32_t part_of(float place, float parts) {
    float at = clamped(place * parts, -256.0f, parts + 256.0f);
    return (int32_t)(bits_of(at + 12582912.0f) - 0x4b400000u) - 128;
}

VECTORS static void parts_of(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows,
                             int32_t *restrict first, int32_t *restrict right, int32_t *restrict below,
                             uint32_t *restrict across, uint32_t *restrict down, int count) {
    float all_across = (float)columns * 256.0f, all_down = (float)rows * 256.0f;
    for (int i = 0; i < count; i++) {
        int32_t x = part_of(u[i], all_across), y = part_of(v[i], all_down);
        int32_t column = within(x >> 8, columns), line = within(y >> 8, rows);
        first[i] = line * columns + column;
        right[i] = within((x >> 8) + 1, columns) - column;
        below[i] = (within((y >> 8) + 1, rows) - line) * columns;
        across[i] = (uint32_t)x & 255;
        down[i] = (uint32_t)y & 255;
    }
}

INLINE uint32_t mixed(uint32_t one, uint32_t other, uint32_t share) {
    return (one * (256 - share) + other * share + 128) >> 8;
}

// Two numbers of 8 bits in the halves of a word.
INLINE uint32_t both_mixed(uint32_t one, uint32_t other, uint32_t share) {
    return (one * (256 - share) + other * share + 0x800080u) >> 8 & 0xff00ffu;
}

// The four texels around each place.
static void gathered_bytes(const uint8_t *restrict texels, const int32_t *restrict first, const int32_t *restrict right,
                           const int32_t *restrict below, uint32_t *restrict one, uint32_t *restrict two,
                           uint32_t *restrict three, uint32_t *restrict four, int count) {
    for (int i = 0; i < count; i++) {
        const uint8_t *upper = texels + first[i], *lower = upper + below[i];
        one[i] = upper[0], two[i] = upper[right[i]], three[i] = lower[0], four[i] = lower[right[i]];
    }
}

VECTORS static void filtered_codes(const uint32_t *restrict one, const uint32_t *restrict two, const uint32_t *restrict three,
                                   const uint32_t *restrict four, const uint32_t *restrict across,
                                   const uint32_t *restrict down, float full, float opacity, float *restrict alpha,
                                   int count) {
    for (int i = 0; i < count; i++) {
        uint32_t code = mixed(mixed(one[i], two[i], across[i]), mixed(three[i], four[i], across[i]), down[i]);
        float found = full * ((float)(int32_t)code * (1.0f / 255.0f));
        alpha[i] = picked(found < 1.0f / 255.0f, 0.0f, found) * opacity;
    }
}

static void gathered_codes(const uint8_t *restrict texels, const int32_t *restrict first, float full, float opacity,
                           float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        float found = full * ((float)texels[first[i]] * (1.0f / 255.0f));
        alpha[i] = (found < 1.0f / 255.0f ? 0.0f : found) * opacity;
    }
}

// The four texels of bytes around each place of r->u and r->v: r->found, and how far the place is from them: r->shares.
static void found_bytes(const uint8_t *texels, int32_t columns, int32_t rows, struct row *r, int count) {
    parts_of(r->u, r->v, columns, rows, r->first, r->right, r->below, r->shares[0], r->shares[1], count);
    gathered_bytes(texels, r->first, r->right, r->below, r->found[0], r->found[1], r->found[2], r->found[3], count);
}

// The alpha of one colour whose coverage is a texture.
static void inked(const struct coat *of, struct row *r, int count) {
    if (of->is_nearest) {
        nearest(r->u, r->v, of->columns, of->rows, r->first, count);
        gathered_codes(of->texels, r->first, of->color[3], of->opacity, r->alpha, count);
        return;
    }
    found_bytes(of->texels, of->columns, of->rows, r, count);
    filtered_codes(r->found[0], r->found[1], r->found[2], r->found[3], r->shares[0], r->shares[1], of->color[3], of->opacity,
                   r->alpha, count);
}

VECTORS static void masked(const uint32_t *restrict one, const uint32_t *restrict two, const uint32_t *restrict three,
                           const uint32_t *restrict four, const uint32_t *restrict across, const uint32_t *restrict down,
                           float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t code = mixed(mixed(one[i], two[i], across[i]), mixed(three[i], four[i], across[i]), down[i]);
        alpha[i] *= (float)(int32_t)code * (1.0f / 255.0f);
    }
}

static void gathered_pixels(const uint32_t *restrict texels, const int32_t *restrict first, const int32_t *restrict right,
                            const int32_t *restrict below, uint32_t *restrict one, uint32_t *restrict two,
                            uint32_t *restrict three, uint32_t *restrict four, int count) {
    for (int i = 0; i < count; i++) {
        const uint32_t *upper = texels + first[i], *lower = upper + below[i];
        one[i] = upper[0], two[i] = upper[right[i]], three[i] = lower[0], four[i] = lower[right[i]];
    }
}

static void taken_pixels(const uint32_t *restrict texels, const int32_t *restrict first, uint32_t *restrict found, int count) {
    for (int i = 0; i < count; i++) found[i] = texels[first[i]];
}

VECTORS static void filtered_pixels(uint32_t *restrict pixels, const uint32_t *restrict right, const uint32_t *restrict lower,
                                    const uint32_t *restrict last, const uint32_t *restrict across,
                                    const uint32_t *restrict down, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t even = both_mixed(both_mixed(pixels[i] & 0xff00ffu, right[i] & 0xff00ffu, across[i]),
                                   both_mixed(lower[i] & 0xff00ffu, last[i] & 0xff00ffu, across[i]), down[i]);
        uint32_t odd = both_mixed(both_mixed(pixels[i] >> 8 & 0xff00ffu, right[i] >> 8 & 0xff00ffu, across[i]),
                                  both_mixed(lower[i] >> 8 & 0xff00ffu, last[i] >> 8 & 0xff00ffu, across[i]), down[i]);
        pixels[i] = even | odd << 8;
    }
}

// The straight linear colours of one channel of pixels.
VECTORS static void colours_of(const uint32_t *restrict pixels, int shift, float *restrict colours, int count) {
    for (int i = 0; i < count; i++) {
        float colour = (float)(int32_t)(pixels[i] >> shift & 255) * (1.0f / 255.0f);
        float alpha = (float)(int32_t)(pixels[i] >> 24) * (1.0f / 255.0f);
        colour = linear_of(clamped(colour / alpha, 0.0f, 1.0f));
        colours[i] = picked(alpha < 1.0f / 255.0f, 0.0f, colour);
    }
}

VECTORS static void alphas_of(const uint32_t *restrict pixels, float opacity, float *restrict alphas, int count) {
    for (int i = 0; i < count; i++) {
        float alpha = (float)(int32_t)(pixels[i] >> 24) * (1.0f / 255.0f);
        alphas[i] = picked(alpha < 1.0f / 255.0f, 0.0f, alpha) * opacity;
    }
}

static void pictured(const struct coat *of, struct row *r, int count) {
    if (of->is_nearest) {
        nearest(r->u, r->v, of->columns, of->rows, r->first, count);
        taken_pixels(of->texels, r->first, r->found[0], count);
    } else {
        parts_of(r->u, r->v, of->columns, of->rows, r->first, r->right, r->below, r->shares[0], r->shares[1], count);
        gathered_pixels(
            of->texels, r->first, r->right, r->below, r->found[0], r->found[1], r->found[2], r->found[3], count);
        filtered_pixels(r->found[0], r->found[1], r->found[2], r->found[3], r->shares[0], r->shares[1], count);
    }
    for (int channel = 0; channel < 3; channel++) colours_of(r->found[0], 8 * channel, r->ink[channel], count);
    alphas_of(r->found[0], of->opacity, r->alpha, count);
}

// ------------------------------------------------------------------------------------------------------- texels of floats

// Texels of half floats.
VECTORS static void numbers_of_texels(const uint16_t *restrict halves, float *restrict texels, int count) {
    for (int i = 0; i < 4 * count; i++) texels[i] = half_of(halves[i]);
}

VECTORS static void corners_of(const float *restrict u, const float *restrict v, int32_t columns, int32_t rows,
                               int32_t *restrict first, int32_t *restrict right, int32_t *restrict below,
                               float *restrict across, float *restrict down, int count) {
    for (int i = 0; i < count; i++) {
        float x = u[i] * (float)columns - 0.5f, y = v[i] * (float)rows - 0.5f;
        float left = floorf(x), top = floorf(y);
        across[i] = x - left, down[i] = y - top;
        int32_t column = (int32_t)clamped(left, -1.0f, (float)columns), line = (int32_t)clamped(top, -1.0f, (float)rows);
        int32_t held_column = within(column, columns), held_line = within(line, rows);
        first[i] = held_line * columns + held_column;
        right[i] = within(column + 1, columns) - held_column;
        below[i] = (within(line + 1, rows) - held_line) * columns;
    }
}

// RGBA between the four texels around each place.
FUSED static void between(const float *restrict texels, const int32_t *restrict first, const int32_t *restrict right,
                          const int32_t *restrict below, const float *restrict across, const float *restrict down,
                          float *restrict found, int count) {
    for (int i = 0; i < count; i++) {
        const float *one = texels + 4 * (ptrdiff_t)first[i], *two = one + 4 * right[i];
        const float *three = one + 4 * (ptrdiff_t)below[i], *four = three + 4 * right[i];
        float x = across[i], y = down[i];
        for (int channel = 0; channel < 4; channel++) {
            float upper = fmaf(x, two[channel] - one[channel], one[channel]);
            float lower = fmaf(x, four[channel] - three[channel], three[channel]);
            found[4 * i + channel] = fmaf(y, lower - upper, upper);
        }
    }
}

// The straight colours of linear texels.
VECTORS static void straightened(const float *restrict texels, float opacity, float *restrict red, float *restrict green,
                                 float *restrict blue, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        float own = texels[4 * i + 3];
        uint32_t is_seen = -(uint32_t)!(own < 1.0f / 255.0f);
        red[i] = float_of(bits_of(clamped(texels[4 * i] / own, 0.0f, 1.0f)) & is_seen);
        green[i] = float_of(bits_of(clamped(texels[4 * i + 1] / own, 0.0f, 1.0f)) & is_seen);
        blue[i] = float_of(bits_of(clamped(texels[4 * i + 2] / own, 0.0f, 1.0f)) & is_seen);
        alpha[i] = float_of(bits_of(own) & is_seen) * opacity;
    }
}

// Texels that are the frame's own pixels; beyond the edge the last one is repeated.
static void own_pixels(const struct coat *of, int row, int first, int count, float *restrict texels) {
    int32_t line = within(row - (int32_t)of->own[1], of->rows), column = first - (int32_t)of->own[0];
    const uint16_t *halves = (const uint16_t *)of->texels + 4 * (ptrdiff_t)line * of->columns;
    if (column >= 0 && column + count <= of->columns) {
        numbers_of_texels(halves + 4 * (ptrdiff_t)column, texels, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        numbers_of_texels(halves + 4 * (ptrdiff_t)within(column + i, of->columns), texels + 4 * i, 1);
    }
}

// A picture in front of its light: `resampled` of the one, plus what the other adds where it is not covered.
VECTORS static void before_light(const float *restrict sharp, float *restrict light, int count) {
    for (int i = 0; i < count; i++) {
        float alpha = sharp[4 * i + 3];
        uint32_t is_seen = -(uint32_t)!(alpha < 1.0f / 255.0f);
        float own = float_of(bits_of(alpha) & is_seen), rest = 1.0f - own;
        for (int channel = 0; channel < 3; channel++) {
            float colour = float_of(bits_of(clamped(sharp[4 * i + channel], 0.0f, alpha)) & is_seen);
            light[4 * i + channel] = colour + light[4 * i + channel] * rest;
        }
        light[4 * i + 3] = own + light[4 * i + 3] * rest;
    }
}

// Light as it is laid: `resampled` of shaders/include/color.glsl, faded.
VECTORS static void ink_of_light(const float *restrict texels, const float *restrict shares, float *restrict red,
                                 float *restrict green, float *restrict blue, float *restrict through, int count) {
    for (int i = 0; i < count; i++) {
        float alpha = texels[4 * i + 3];
        uint32_t is_seen = -(uint32_t)!(alpha < 1.0f / 255.0f);
        red[i] = float_of(bits_of(clamped(texels[4 * i], 0.0f, alpha) * shares[i]) & is_seen);
        green[i] = float_of(bits_of(clamped(texels[4 * i + 1], 0.0f, alpha) * shares[i]) & is_seen);
        blue[i] = float_of(bits_of(clamped(texels[4 * i + 2], 0.0f, alpha) * shares[i]) & is_seen);
        through[i] = 1.0f - float_of(bits_of(alpha * shares[i]) & is_seen);
    }
}

// What a matte of some texels leaves: `matte` of shaders/include/matte.glsl.
VECTORS static void matte_shares(const float *restrict texels, int mode, float *restrict shares, int count) {
    for (int i = 0; i < count; i++) {
        float red = floorf(clamped(texels[4 * i], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float green = floorf(clamped(texels[4 * i + 1], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float blue = floorf(clamped(texels[4 * i + 2], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float alpha = floorf(clamped(texels[4 * i + 3], 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f;
        float luma = (green * 0.7152f + blue * 0.0722f) + red * 0.2126f;
        float of_alpha = picked(mode == 1, alpha, 1.0f - alpha);
        float of_luma = picked(mode == 3, luma * alpha, (1.0f - luma) * alpha);
        shares[i] = picked(mode <= 2, of_alpha, of_luma);
    }
}

// How much of some columns of a row shows: opacity times matte, as r->alpha. Needs r->texels.
static void matted(const struct coat *of, struct row *r, int row, int first, int count) {
    const struct coat *matte = of->matte;
    set_all(r->alpha, of->opacity, count);
    if (!matte) return;
    set_all(r->alpha, of->opacity * (matte->mode == 2 ? 1.0f : 0.0f), count);
    int left = (int)matte->own[0], top = (int)matte->own[1], from = first > left ? first : left, to = first + count;
    to = to < left + matte->columns ? to : left + matte->columns;
    if (row < top || row >= top + matte->rows || from >= to) return;
    own_pixels(matte, row, from, to - from, r->texels);
    matte_shares(r->texels, matte->mode, r->alpha + (from - first), to - from);
    scaled(r->alpha + (from - first), of->opacity, to - from);
}

VECTORS static void cells_of(float share, const float *restrict cells, int row, int first, int count, float *restrict u,
                             float *restrict v) {
    float down = (((float)row + 0.5f) * share - cells[1]) / cells[3];
    for (int i = 0; i < count; i++) {
        u[i] = (((float)(first + i) + 0.5f) * share - cells[0]) / cells[2];
        v[i] = down;
    }
}

// The same of half floats.
static void between_halves_anywhere(const uint16_t *texels, const int32_t *first, const int32_t *right, const int32_t *below,
                                    const float *across, const float *down, float *found, int count) {
    float around[16];
    const int32_t start = 0, next = 1, line = 2;
    for (int i = 0; i < count; i++) {
        const uint16_t *one = texels + 4 * (ptrdiff_t)first[i], *three = one + 4 * (ptrdiff_t)below[i];
        numbers_of_texels(one, around, 1);
        numbers_of_texels(one + 4 * right[i], around + 4, 1);
        numbers_of_texels(three, around + 8, 1);
        numbers_of_texels(three + 4 * right[i], around + 12, 1);
        between(around, &start, &next, &line, across + i, down + i, found + 4 * i, 1);
    }
}

#if defined(__x86_64__) && defined(__gnu_linux__)
// The same by the processor's own conversion, two texels of a row at once where they lie beside each other.
__attribute__((target("avx2,fma,f16c"))) static void between_halves_wide(
    const uint16_t *texels, const int32_t *first, const int32_t *right, const int32_t *below, const float *across,
    const float *down, float *found, int count) {
    for (int i = 0; i < count; i++) {
        const uint16_t *one = texels + 4 * (ptrdiff_t)first[i], *three = one + 4 * (ptrdiff_t)below[i];
        if (right[i] != 1) {
            between_halves_anywhere(texels, first + i, right + i, below + i, across + i, down + i, found + 4 * i, 1);
            continue;
        }
        __m256 upper = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)one));
        __m256 lower = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)three));
        __m128 x = _mm_set1_ps(across[i]), y = _mm_set1_ps(down[i]);
        __m128 upper_left = _mm256_castps256_ps128(upper), lower_left = _mm256_castps256_ps128(lower);
        __m128 above = _mm_fmadd_ps(x, _mm_sub_ps(_mm256_extractf128_ps(upper, 1), upper_left), upper_left);
        __m128 beneath = _mm_fmadd_ps(x, _mm_sub_ps(_mm256_extractf128_ps(lower, 1), lower_left), lower_left);
        _mm_storeu_ps(found + 4 * i, _mm_fmadd_ps(y, _mm_sub_ps(beneath, above), above));
    }
}
#endif

static void between_halves(const uint16_t *texels, const int32_t *first, const int32_t *right, const int32_t *below,
                           const float *across, const float *down, float *found, int count) {
#if defined(__x86_64__) && defined(__gnu_linux__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        between_halves_wide(texels, first, right, below, across, down, found, count);
        return;
    }
#endif
    between_halves_anywhere(texels, first, right, below, across, down, found, count);
}

static void sampled(const struct coat *of, struct row *r, int count) {
    corners_of(r->u, r->v, of->columns, of->rows, r->first, r->right, r->below, r->across, r->down, count);
    if (of->kind == HALF_CELLS) {
        between_halves(of->texels, r->first, r->right, r->below, r->across, r->down, r->texels, count);
    } else {
        between(of->texels, r->first, r->right, r->below, r->across, r->down, r->texels, count);
    }
}

// --------------------------------------------------------------------------------------------------------------- the frame

// One channel of one colour by its alpha and what of each pixel is covered.
VECTORS static void tinted(const float *restrict alpha, const float *restrict covered, float colour, float *restrict ink,
                           int count) {
    for (int i = 0; i < count; i++) ink[i] = (colour * alpha[i]) * covered[i];
}

VECTORS static void premultiplied(const float *restrict alpha, const float *restrict covered, float *restrict ink, int count) {
    for (int i = 0; i < count; i++) ink[i] = (ink[i] * alpha[i]) * covered[i];
}

VECTORS static void through_alpha(const float *restrict alpha, const float *restrict covered, float *restrict through,
                                  int count) {
    for (int i = 0; i < count; i++) through[i] = 1.0f - alpha[i] * covered[i];
}

// What lies below a blended layer, through 8 bits: `levels` of shaders/include/coarse.glsl.
VECTORS static void coarsened(float *restrict below, int count) {
    for (int i = 0; i < count; i++) {
        float level = floorf(clamped(below[i], 0.0f, 1.0f) * 255.0f + 0.5f) * (1.0f / 255.0f);
        below[i] = float_of((bits_of(level) + 0x1000u) & 0xffffe000u);
    }
}

VECTORS static void alpha_covered(const float *restrict covered, float *restrict alpha, int count) {
    for (int i = 0; i < count; i++) {
        float held = alpha[i] * covered[i];
        alpha[i] = picked(held < 1.0f / 255.0f, 0.0f, held);
    }
}

INLINE float lesser(float one, float other) { return picked(one < other, one, other); }

// What soft light makes of a backdrop under white.
INLINE float softer(float b) { return picked(b <= 0.25f, ((16.0f * b - 12.0f) * b + 4.0f) * b, sqrtf(b)); }

// Blend functions of shaders/include/blend.glsl over an opaque backdrop: b below, s the source's straight colour.
#define BLENDED(name, mixed)                                                                                       \
    VECTORS static void name(float *restrict below, const float *restrict colours, const float *restrict alpha,   \
                             int count) {                                                                          \
        for (int i = 0; i < count; i++) {                                                                          \
            float b = below[i], s = clamped(colours[i], 0.0f, 1.0f), share = alpha[i], rest = 1.0f - share;        \
            float found = share * (mixed) + rest * b, all = share + rest;                                          \
            below[i] = as_half(picked(found < all, found, all));                                                   \
        }                                                                                                          \
    }

BLENDED(multiply, b * s)
BLENDED(screen, b + s - b * s)
BLENDED(overlay, picked(2.0f * b <= 1.0f, 2.0f * b * s, 1.0f - 2.0f * (1.0f - b) * (1.0f - s)))
BLENDED(darken, picked(b < s, b, s))
BLENDED(lighten, picked(b > s, b, s))
BLENDED(color_dodge, picked(b <= 0.0f, 0.0f, picked(s >= 1.0f, 1.0f, lesser(1.0f, b / (1.0f - s)))))
BLENDED(color_burn, picked(b >= 1.0f, 1.0f, picked(s <= 0.0f, 0.0f, 1.0f - lesser(1.0f, (1.0f - b) / s))))
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

static int is_of_one_colour(const struct coat *of) {
    return of->kind == COVERAGE || ((of->kind == RECTANGLE || of->kind == ELLIPSE) && !of->texels);
}

// What content shows on some columns of a row: r->alpha, and r->ink but for what is of one colour.
static void drawn(const struct coat *of, struct row *r, int row, int first, int count, int is_inside) {
    if (of->kind == RECTANGLE || of->kind == ELLIPSE) {
        shaped(of, r, row, first, count, is_inside || of->own[3] > 0.5f);
        return;
    }
    if (of->kind == GROUP) {
        own_pixels(of, row, first, count, r->texels);
        straightened(r->texels, of->opacity, r->ink[0], r->ink[1], r->ink[2], r->alpha, count);
        return;
    }
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    if (of->kind == CELLS || of->kind == HALF_CELLS) {
        limited(r->u, count);
        limited(r->v, count);
    }
    part_shown(r->u, of->own[0], of->own[2], count);
    part_shown(r->v, of->own[1], of->own[3], count);
    if (of->kind == COVERAGE) {
        inked(of, r, count);
    } else if (of->kind == PICTURE) {
        pictured(of, r, count);
    } else {
        sampled(of, r, count);
        straightened(r->texels, of->opacity, r->ink[0], r->ink[1], r->ink[2], r->alpha, count);
    }
}

static void mask_applied(const struct coat *of, struct row *r, int row, int first, int count) {
    (of->is_projective ? projective : affine)(of->to_unit, row, first, count, r->u, r->v);
    found_bytes(of->mask, of->mask_columns, of->mask_rows, r, count);
    masked(r->found[0], r->found[1], r->found[2], r->found[3], r->shares[0], r->shares[1], r->alpha, count);
}

// Content over columns of a row that begin at `at` of its numbers.
static void shown(const struct coat *of, struct row *r, int at, int count) {
    if (of->mode) {
        blend_function *function = function_of(of->mode);
        alpha_covered(r->covered, r->alpha, count);
        for (int channel = 0; function && channel < 3; channel++) {
            if (is_of_one_colour(of)) set_all(r->ink[channel], of->color[channel], count);
            function(r->scene[channel] + at, r->ink[channel], r->alpha, count);
        }
        return;
    }
    through_alpha(r->alpha, r->covered, r->through, count);
    for (int channel = 0; channel < 3; channel++) {
        if (is_of_one_colour(of)) {
            tinted(r->alpha, r->covered, of->color[channel], r->ink[channel], count);
        } else {
            premultiplied(r->alpha, r->covered, r->ink[channel], count);
        }
        lay(r->scene[channel] + at, r->ink[channel], r->through, count);
    }
}

enum place { CUT, WHOLE, INSIDE };  // where the quad's edge may be, where only the shape's may be, where none is

// Content over columns [first, end) of a row, whose numbers begin at the column `left`.
static void laid(const struct coat *of, struct row *r, int row, int left, int first, int end, enum place where) {
    if (first >= end) return;
    int count = end - first;
    if (where == CUT && of->samples) {
        coverage(of, row, first, count, r->covered);
    } else {
        set_all(r->covered, 1.0f, count);
    }
    drawn(of, r, row, first, count, where == INSIDE);
    if (of->mask) mask_applied(of, r, row, first, count);
    shown(of, r, first - left, count);
}

// Light on some columns of a row, as r->texels.
static void lit(const struct coat *of, struct row *r, int row, int first, int count) {
    if (of->is_nearest) {
        own_pixels(of, row, first, count, r->texels);
        return;
    }
    cells_of(of->share, of->own, row, first, count, r->u, r->v);
    sampled(of, r, count);
}

// Light, or a picture in a buffer of its own, with its light or without.
static void buffer_laid(const struct coat *of, struct row *r, int row, int left, int first, int end) {
    int count = end - first;
    matted(of, r, row, first, count);
    if (of->kind == BUFFER) {
        own_pixels(of, row, first, count, r->texels);
    } else if (of->kind == LIGHT) {
        lit(of, r, row, first, count);
    } else {
        lit(of->light, r, row, first, count);
        own_pixels(of, row, first, count, r->sharp);
        before_light(r->sharp, r->texels, count);
    }
    ink_of_light(r->texels, r->alpha, r->ink[0], r->ink[1], r->ink[2], r->through, count);
    for (int channel = 0; channel < 3; channel++) {
        lay(r->scene[channel] + (first - left), r->ink[channel], r->through, count);
    }
}

static void planes_laid(const struct coat *of, struct row *r, int row, int left, int first, int end) {
    int width = of->right - of->left;
    ptrdiff_t plane = (ptrdiff_t)width * (of->bottom - of->top);
    const float *own = (const float *)of->texels + (ptrdiff_t)(row - of->top) * width + (first - of->left);
    for (int channel = 0; channel < 3; channel++) {
        lay(r->scene[channel] + (first - left), own + channel * plane, own + 3 * plane, end - first);
    }
}

// A coat over columns [left, right) of a row.
static void laid_row(const struct coat *of, struct row *r, int row, int left, int right) {
    if (row < of->top || row >= of->bottom) return;
    int first = of->left > left ? of->left : left, end = of->right < right ? of->right : right;
    if (first >= end) return;
    if (of->kind == PLANES) {
        planes_laid(of, r, row, left, first, end);
        return;
    }
    if (of->kind == LIGHT || of->kind == BUFFER || of->kind == LIT_BUFFER) {
        buffer_laid(of, r, row, left, first, end);
        return;
    }
    if (of->kind == COARSE) {
        for (int channel = 0; channel < 3; channel++) coarsened(r->scene[channel] + (first - left), end - first);
        return;
    }
    struct edge edges[EDGES_MAX];
    int count = square_of(of, edges, 0, 0), is_shape = of->kind == RECTANGLE || of->kind == ELLIPSE;
    span_of(edges, count, row, -1.0, &first, &end);
    int whole_first = first, whole_end = end;
    span_of(edges, count, row, 1.0, &whole_first, &whole_end);
    int inner_first = whole_first, inner_end = whole_end;
    if (is_shape && of->own[3] <= 0.5f) {
        count = inner_of(of, edges);
        inner_end = count ? inner_end : inner_first;
        span_of(edges, count, row, 1.0, &inner_first, &inner_end);
    }
    if (whole_first >= whole_end) {
        laid(of, r, row, left, first, end, CUT);
        return;
    }
    laid(of, r, row, left, first, whole_first, CUT);
    if (is_shape && inner_first < inner_end) {
        laid(of, r, row, left, whole_first, inner_first, WHOLE);
        if (of->mode || of->texels) {
            laid(of, r, row, left, inner_first, inner_end, INSIDE);
        } else {
            flat(of, r, inner_first - left, inner_end - inner_first);
        }
        laid(of, r, row, left, inner_end, whole_end, WHOLE);
    } else {
        laid(of, r, row, left, whole_first, whole_end, WHOLE);
    }
    laid(of, r, row, left, whole_end, end, CUT);
}

VECTORS static void numbers_of(const uint16_t *restrict pixels, float *restrict red, float *restrict green,
                               float *restrict blue, int count) {
    for (int i = 0; i < count; i++) {
        red[i] = half_of(pixels[4 * i]);
        green[i] = half_of(pixels[4 * i + 1]);
        blue[i] = half_of(pixels[4 * i + 2]);
    }
}

static void grounded(const struct ground *on, struct row *r, ptrdiff_t row, int left, int count) {
    if (on->footage) {
        const uint8_t *pixels = on->footage + row * on->stride + 4 * (ptrdiff_t)left;
        for (int i = 0; i < count; i++) {
            for (int channel = 0; channel < 3; channel++) r->scene[channel][i] = on->linear[pixels[4 * i + channel]];
        }
    } else if (on->halves) {
        const uint16_t *pixels = (const uint16_t *)((const uint8_t *)on->halves + row * on->stride) + 4 * (ptrdiff_t)left;
        numbers_of(pixels, r->scene[0], r->scene[1], r->scene[2], count);
    } else {
        for (int channel = 0; channel < 3; channel++) set_all(r->scene[channel], on->color[channel], count);
    }
}

static void shown_by(const uint8_t *restrict levels, const uint16_t *restrict red, const uint16_t *restrict green,
                     const uint16_t *restrict blue, uint8_t *restrict picture, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t pixel = levels[red[i]] | (uint32_t)levels[green[i]] << 8 | (uint32_t)levels[blue[i]] << 16 | 0xff000000u;
        memcpy(picture + 4 * i, &pixel, sizeof pixel);
    }
}

// Coats from bottom to top over columns [left, right) and rows [top, bottom) of what lies below, whose row `ground_row` begins
// at (left, top), shown in a picture by `levels`: one for each of the 65,536 patterns of a half float.
void composed(const struct ground *on, int ground_row, const struct coat *coats, int count, const uint8_t *restrict levels,
              uint8_t *restrict picture, ptrdiff_t stride, int left, int top, int right, int bottom) {
    struct row r;
    for (int row = top; row < bottom; row++) {
        for (int x = left, held; x < right; x += held) {
            held = right - x < CHUNK ? right - x : CHUNK;
            grounded(on, &r, ground_row + row - top, x - left, held);
            for (const struct coat *coat = coats; coat < coats + count; coat++) laid_row(coat, &r, row, x, x + held);
            for (int channel = 0; channel < 3; channel++) patterns_of(r.scene[channel], r.patterns[channel], held);
            shown_by(levels, r.patterns[0], r.patterns[1], r.patterns[2], picture + row * stride + 4 * (ptrdiff_t)x, held);
        }
    }
}
