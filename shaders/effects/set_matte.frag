// Cuts the layer by u_map, another layer over the frame, linear premultiplied: its alpha, or its luma (effects.md
// 8.10).
#include "chain.glsl"

uniform sampler2D u_map;
uniform vec4 u_map_region;
uniform bool u_use_luminance;
uniform bool u_invert;

void main() {
    vec4 m = texel_of(u_map, u_map_region, v_frame);
    float k = u_use_luminance ? luma601(m.rgb) : m.a;
    put(here() * clamp(u_invert ? 1.0 - k : k, 0.0, 1.0));
}
