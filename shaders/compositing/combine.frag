// Blends a layer's own buffer with the backdrop (include/combine.glsl).
//
// u_layer: a linear premultiplied target. out: linear premultiplied, replaces the backdrop.
#include "frame.glsl"
#include "color.glsl"
#include "combine.glsl"

uniform sampler2D u_layer;
uniform vec4 u_layer_region;

void main() {
    o_color = combined(straight(texelFetch(u_layer, ivec2(v_frame - u_layer_region.xy), 0)));
}
