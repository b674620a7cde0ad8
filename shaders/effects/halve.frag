// A picture at half its size along one axis or both: each pixel is the mean of a cell. in: u_source, premultiplied;
// u_cell, 1 or 2 px across and down. out: like u_source; with ALPHA only its alpha, in every channel.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform vec2 u_cell;
out vec4 f_color;

void main() {
    ivec2 last = ivec2(u_source_region.zw) - 1, corner = ivec2(u_cell * floor(v_frame) - u_source_region.xy);
    ivec2 low = clamp(corner, ivec2(0), last), high = clamp(corner + ivec2(u_cell) - 1, ivec2(0), last);
#ifdef ALPHA
    f_color = vec4(0.25 * (texelFetch(u_source, low, 0).a + texelFetch(u_source, ivec2(high.x, low.y), 0).a
                           + texelFetch(u_source, ivec2(low.x, high.y), 0).a + texelFetch(u_source, high, 0).a));
#else
    f_color = 0.25 * (texelFetch(u_source, low, 0) + texelFetch(u_source, ivec2(high.x, low.y), 0)
                      + texelFetch(u_source, ivec2(low.x, high.y), 0) + texelFetch(u_source, high, 0));
#endif
}
