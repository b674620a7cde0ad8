// Displaces the picture by the red and green of u_map, another layer over the frame, linear premultiplied (effects.md
// 8.8).
#include "chain.glsl"
#include "around.glsl"

uniform sampler2D u_map;
uniform vec4 u_map_region;
uniform float u_amount;

void main() {
    vec2 shift = (texel_of(u_map, u_map_region, v_frame).rg - 0.5) * 2.0 * u_amount * u_length_scale;
    put(buffer_at(clamp(position() + shift, vec2(0.0), u_frame_size)));
}
