// Applies the colour stage of an adjustment layer to everything below it (effects.md 5): the first pass of its
// effects.
//
// MATRIX, TABLES: parts of the stage. Without either, colours are only clamped to 0..1.
#include "chain.glsl"
#include "color_stage.glsl"

void main() {
    put(premultiplied(graded(straight(here()))));
}
