// Draws the blurred backdrop through a layer's alpha (compositing.md 8.1).
// u_layer: linear premultiplied. u_backdrop: linear premultiplied; its coordinates are frame pixels times
// u_backdrop_scale.
#include "frame.glsl"

out vec4 o_color;

uniform sampler2D u_layer;
uniform vec4 u_layer_region;
uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
uniform float u_backdrop_scale;

void main() {
    float alpha = floor(clamp(texel_of(u_layer, u_layer_region, v_frame).a, 0.0, 1.0) * 255.0 + 0.5) / 255.0;
    o_color = sample_of(u_backdrop, u_backdrop_region, v_frame * u_backdrop_scale) * alpha;
}
