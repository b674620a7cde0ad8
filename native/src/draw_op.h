// Arguments of composite.c, and its working memory.

#ifndef DRAW_OP_H
#define DRAW_OP_H

#include "numbers.h"

enum kind { RECTANGLE, ELLIPSE, COVERAGE, IMAGE, CELLS, HALF_CELLS, GROUP, BUFFER, GLOWING_BUFFER, GLOW, QUANTISE };

enum { TABLE_ENTRIES = 257 };  // levels -1 to 255: the first and the last level are repeated beyond the ends

// The colour stage of a layer, packed by gpu_renderer/kernels/bindings.py.
struct grade {
    float gain[3];        // of encoded colours
    int32_t is_aces;      // from linear Rec.709 to ACEScg
    int32_t has_matrix;
    float matrix[12];     // three columns and the offset
    const uint32_t *tables;  // of each channel TABLE_ENTRIES pairs of a level and, in the upper half, the next one; or 0
};

// One draw operation of the kernels, packed by gpu_renderer/kernels/bindings.py.
struct draw_op {
    int32_t kind, samples, is_projective, is_nearest;
    int32_t mode;                      // of shaders/include/blend.glsl; 0 is source-over
    int32_t is_exact;                  // an image or coverage filtered in single floats
    int32_t left, top, right, bottom;  // pixels of the frame that it can touch
    float to_unit[9];                  // frame px to the unit square of its quad, column by column
    float opacity, color[4];           // linear, straight
    float own[4];                      // of a shape: width, height, radius, and 1 for a hard edge; of an image its crop;
                                       // of buffers and cells their place in the frame
    float share;                       // cells of a glow per frame px
    int32_t columns, rows;             // of the texels; of a gradient its ramp count, and 1 linear or 2 radial
    const void *texels;                // COVERAGE: bytes; IMAGE: bytes of RGBA; CELLS and GLOW: RGBA of floats; HALF_CELLS and
                                       // buffers: RGBA of half floats; gradient: its place, its first colour, and for each
                                       // ramp its start, slope and added colour. Bytes have at least two rows and columns.
    const struct draw_op *light;       // the GLOW behind a GLOWING_BUFFER
    const struct draw_op *matte;       // of glows and buffers: half floats; its `mode` is of shaders/include/matte.glsl
    const uint8_t *mask;               // coverage of the unit square, of an image or coverage
    int32_t mask_columns, mask_rows;
    const struct grade *grade;         // 0 if colours stay as they are
};

// Gain of the encoded colours of a channel.
INLINE float gain_of(const struct draw_op *of, int channel) { return of->grade ? of->grade->gain[channel] : 1.0f; }

// The backdrop of all operations: `linear[code]` of video pixels, half floats of RGBA, or one colour.
struct backdrop {
    const uint8_t *footage;
    const float *linear;
    const uint16_t *halves;
    ptrdiff_t stride;  // bytes
    float color[3];
};

// Numbers of one strip of a row.
struct row {
    float scene[4][CHUNK];             // the backdrop, rounded to half floats; opaque
    float source[3][CHUNK], alpha[CHUNK]; // the operation's colours: straight with alpha, or premultiplied with
    float through[CHUNK];              // the share of the backdrop that shows
    float covered[CHUNK];
    float u[CHUNK + 2], v[CHUNK + 2];  // one column more on both sides
    float distances[2][CHUNK + 2];
    int32_t first[CHUNK];              // upper left of the four texels around each position, and offsets to the others
    int32_t right[CHUNK], below[CHUNK];
    float across[CHUNK], down[CHUNK];  // distance of the position from it, in texels
    uint32_t shares[2][CHUNK];         // the same in 256 parts
    uint32_t found[4][CHUNK];
    float texels[4][CHUNK], sharp[4][CHUNK];
    float beside[4 * CHUNK];           // texels one after the other
    uint16_t patterns[3][CHUNK];
    int32_t fine_first, fine_end;      // all columns outside these are quantised
};

#endif
