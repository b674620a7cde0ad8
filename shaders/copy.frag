// Copies a target, texel for texel.
// u_source: any target that holds the same frame pixels. Out: the same values.
#include "frame.glsl"

out vec4 o_color;

uniform sampler2D u_source;
uniform vec4 u_source_region;

void main() {
    o_color = texelFetch(u_source, ivec2(floor(v_frame) - u_source_region.xy), 0);
}
