// Arguments and working memory of composite.c.

#ifndef DRAW_OP_H
#define DRAW_OP_H

#include "numbers.h"

enum kind { RECTANGLE, ELLIPSE, COVERAGE, IMAGE, CELLS, HALF_CELLS, GROUP, BUFFER, GLOWING_BUFFER, GLOW, QUANTISE, ADJUST };

enum { TABLE_ENTRIES = 257 };  // levels -1 to 255: the first and the last level are repeated beyond the ends

// The colour stage of a layer, packed by gpu_renderer/kernels/draw_ops.py.
struct grade {
    float gain[3];        // of encoded colours
    int32_t is_aces;      // from linear Rec.709 to ACEScg
    int32_t has_matrix;
    float matrix[12];     // three columns and the offset
    const uint32_t *tables;  // of each channel TABLE_ENTRIES pairs of a level and, in the upper half, the next one; or 0
};

struct shape { float width, height, radius, hardness; };  // layer px; hardness: 1 for a hard edge, 0 for a soft edge

struct rect { float left, top, width, height; };

struct texel_rect { int32_t left, top, right, bottom; };  // empty if unknown

// One draw operation of the kernels, packed by gpu_renderer/kernels/draw_ops.py.
struct draw_op {
    int32_t kind, samples, is_projective, is_nearest;
    int32_t mode;                      // of shaders/include/blend.glsl; 0 is source-over
    int32_t is_exact;                  // an image or coverage filtered in single floats
    int32_t left, top, right, bottom;  // pixels of the frame that the operation can touch
    float to_unit[12];                 // matrix from frame px to the unit square of its quad, column by column, and the quad's fold,
                                       // see `unfold`
    float opacity, color[4];           // linear, straight
    union {
        struct shape shape;   // RECTANGLE, ELLIPSE
        struct rect crop;     // COVERAGE, IMAGE, CELLS, HALF_CELLS: visible part of the texels, 0 to 1
        struct rect region;   // GROUP, buffers, GLOW: where the texels lie, in frame px; of a GLOW that is not nearest in cells
    };
    float cells_per_px;       // of a GLOW
    union {
        struct { int32_t columns, rows; };              // of the texels
        struct { int32_t ramp_count, gradient_kind; };  // of a shape with a gradient
        int32_t pass_count;                             // of an ADJUST
    };
    const void *texels;                // COVERAGE: bytes; IMAGE: bytes of RGBA; CELLS and GLOW: RGBA of floats; HALF_CELLS, GROUP,
                                       // buffers and a nearest GLOW: RGBA of half floats; shape: `struct gradient`, or 0 for one
                                       // colour; ADJUST: `struct pass`. Bytes have at least two rows and columns.
    const struct draw_op *glow;        // the GLOW behind a GLOWING_BUFFER
    const struct draw_op *matte;       // of glows and buffers: half floats; its `mode` is of shaders/include/matte.glsl
    const uint8_t *mask;               // of an image or coverage: coverage of the unit square
    int32_t mask_columns, mask_rows;
    const struct grade *grade;         // 0 if colours stay as they are
    struct texel_rect visible, flat;   // of CELLS and HALF_CELLS, from `find_extents`: texels outside `visible` are transparent,
                                       // those inside `flat` are equal
};

enum gradient_kind { LINEAR = 1, RADIAL };

// Colour stops of a gradient as ramps. A ramp adds its colours in proportion to the position between its start and end.
struct gradient {
    float place[4];  // LINEAR: offset per u, offset per v, offset at (0, 0); RADIAL: centre, and offset per u and per v from it
    float color[4];  // of the first stop: encoded, straight
    struct ramp {
        float start, slope, added[4];  // offset of its start, 1 / length, and colour at its end minus colour at its start
    } ramps[];
};

// Gain of the encoded colours of a channel.
INLINE float gain_of(const struct draw_op *op, int channel) { return op->grade ? op->grade->gain[channel] : 1.0f; }

// Backdrop of all operations: `linear[code]` of video pixels, RGBA half floats, or one colour.
struct backdrop {
    const uint8_t *footage;
    const float *linear;
    const uint16_t *halves;
    ptrdiff_t stride;   // bytes
    int32_t left, top;  // of its first pixel on the frame
    float color[3];
};

// Working memory of a strip: up to CHUNK columns of one row of the frame.
struct strip {
    float backdrop[4][CHUNK];               // rounded to half floats; opaque
    float source[3][CHUNK];                 // colours of the operation: straight with `alpha`, or premultiplied with `transmittance`
    float alpha[CHUNK];
    float transmittance[CHUNK];             // share of the backdrop that shows through
    float coverage[CHUNK];                  // share of the pixel that the quad covers
    float u[CHUNK + COLUMNS_AT_ONCE], v[CHUNK + COLUMNS_AT_ONCE];  // positions on the unit square, or on the texels
    float distances[2][CHUNK + COLUMNS_AT_ONCE];  // from the edge of a shape, of this row and the other one of its pair
    int32_t tap[CHUNK];                     // index of the upper left of the four texels around each position
    int32_t tap_right[CHUNK], tap_below[CHUNK];      // offsets of its neighbours
    float fraction_x[CHUNK], fraction_y[CHUNK];      // distance of the position from it, in texels
    uint32_t weights[2][CHUNK];             // the same in 256ths, across and down
    uint32_t words[4][CHUNK];               // the four texels as bytes or pixels; the filtered pixels
    float texels[4][CHUNK], buffer[4][CHUNK];  // premultiplied colours and alpha: filtered texels; pixels of a buffer
    float interleaved[4 * CHUNK];           // RGBA of one pixel after the other
    uint16_t patterns[3][CHUNK];            // half floats
    int32_t unquantised_first, unquantised_end;  // columns outside this range are quantised to 8 bits
    uint64_t touched;                       // blocks of the row on which operations were composited, the first in the lowest bit
};

enum { BLOCK = CHUNK / 64 };  // columns of a block

// Add columns [first, end) of a strip to its touched blocks.
INLINE void touch(struct strip *s, int first, int end) {
    if (first < end) s->touched |= (UINT64_MAX >> (63 - (end - 1) / BLOCK)) & (UINT64_MAX << first / BLOCK);
}

#endif
