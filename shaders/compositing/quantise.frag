// Quantises the backdrop of a blended layer to 8 linear bits where the layer itself is not drawn (compositing.md 1.3).
//
// IN_PLACE: the backdrop is the target itself. Otherwise it is u_backdrop. Linear premultiplied, replaces the backdrop.
#include "frame.glsl"
#include "quantise.glsl"

#ifdef IN_PLACE
layout(location = 0) inout vec4 o_color;
#else
out vec4 o_color;

uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
#endif

void main() {
#ifdef IN_PLACE
    o_color = quantised(o_color);
#else
    o_color = quantised(texel_of(u_backdrop, u_backdrop_region, v_frame));
#endif
}
