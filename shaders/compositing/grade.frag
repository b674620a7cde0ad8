// The colour stage of an adjustment layer, over all that is below it (format/effects.md 5).
//
// MATRIX, TABLES: what the stage has; without either colours are only brought within 0..1.
// IN_PLACE: the picture is what is written to; else it is u_source. Linear premultiplied, to replace.
#include "frame.glsl"
#include "color_stage.glsl"

#ifdef IN_PLACE
layout(location = 0) inout vec4 o_color;
#else
out vec4 o_color;

uniform sampler2D u_source;
uniform vec4 u_source_region;
#endif

void main() {
#ifdef IN_PLACE
    vec4 color = o_color;
#else
    vec4 color = texel_of(u_source, u_source_region, v_frame);
#endif
    o_color = premultiplied(graded(straight(color)));
}
