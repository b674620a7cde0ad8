// What composite.c is given, and what it works with.

#ifndef COAT_H
#define COAT_H

#include "numbers.h"

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
    const void *texels;                // bytes of coverage, bytes of RGBA, or RGBA of floats or, of HALF_CELLS and of the
                                       // frame's own pixels, half floats; of PLANES floats of R, G, B and what shows through,
                                       // plane by plane; of a gradient where it lies, its first colour, and of each ramp where
                                       // it begins, its slope and what it adds; bytes have two rows and columns at least
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

// Numbers of the columns of a row that are worked on.
struct row {
    float scene[4][CHUNK];             // what is below, as half floats hold it; all opaque
    float ink[3][CHUNK], alpha[CHUNK]; // what is laid over it: straight, or premultiplied and
    float through[CHUNK];              // the share of what is below that shows
    float covered[CHUNK];
    float u[CHUNK + 2], v[CHUNK + 2];  // of one column more on both sides
    float distances[2][CHUNK + 2];
    int32_t first[CHUNK];              // the upper left of the four texels around each place, and from it to the next ones
    int32_t right[CHUNK], below[CHUNK];
    float across[CHUNK], down[CHUNK];  // and how far the place is from it, in texels
    uint32_t shares[2][CHUNK];         // the same in 256 parts
    uint32_t found[4][CHUNK];
    float texels[4][CHUNK], sharp[4][CHUNK];
    float beside[4 * CHUNK];           // texels one after the other
    uint16_t patterns[3][CHUNK];
    int32_t fine_first, fine_end;      // the columns of the frame beyond which all has been through 8 bits
};

#endif
