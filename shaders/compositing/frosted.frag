// Draws the blurred backdrop through a layer's alpha (compositing.md 8.1).
// u_layer: linear premultiplied. u_backdrop: linear premultiplied; its coordinates are frame pixels times
// u_backdrop_scale.
#include "frame.glsl"
#include "color.glsl"

out vec4 o_color;

uniform sampler2D u_layer;
uniform vec4 u_layer_region;
uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
uniform float u_backdrop_scale;

void main() {
    float alpha = to_8_bits(texel_of(u_layer, u_layer_region, v_frame).a);
    o_color = sample_of(u_backdrop, u_backdrop_region, v_frame * u_backdrop_scale) * alpha;
}
