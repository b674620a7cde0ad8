// Copies a target, texel for texel. UPSIDE_DOWN: the source's rows are in reverse order.
// u_source: any target that holds the same frame pixels. Out: the same values.
#include "frame.glsl"

out vec4 o_color;

uniform sampler2D u_source;
uniform vec4 u_source_region;

void main() {
    ivec2 at = ivec2(floor(v_frame) - u_source_region.xy);
#ifdef UPSIDE_DOWN
    at.y = int(u_source_region.w) - 1 - at.y;
#endif
    o_color = texelFetch(u_source, at, 0);
}
