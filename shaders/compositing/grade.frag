// The colour stage of an adjustment layer, over all that is below it (format/effects.md 5): the first pass of its effects.
//
// MATRIX, TABLES: what the stage has; without either colours are only brought within 0..1.
#include "chain.glsl"
#include "color_stage.glsl"

void main() {
    put(premultiplied(graded(straight(here()))));
}
