// A layer that was drawn on its own, composited: grown out of its target, with opacity and track matte (compositing.md 6).
//
// MATTE  0 none, 1 alpha, 2 alpha inverted, 3 luma, 4 luma inverted
// u_layer, u_matte: linear premultiplied targets; the matte is read through 8 bits. Out: linear premultiplied.
#include "frame.glsl"
#include "color.glsl"
#include "matte.glsl"

out vec4 o_color;

uniform sampler2D u_layer;
uniform vec4 u_layer_region;
uniform float u_opacity;

void main() {
    vec4 layer = premultiplied(straight(texel_of(u_layer, u_layer_region, v_frame)));
    o_color = layer * (u_opacity * matte(v_frame));
}
