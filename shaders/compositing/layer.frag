// Composites a layer that was drawn on its own, with opacity and track matte (compositing.md 6).
//
// MATTE  0 none, 1 alpha, 2 alpha inverted, 3 luma, 4 luma inverted
// GLOW   0 the picture alone, 1 the picture over its glow, 2 the glow alone
// TAILS  keep the parts of a glow below 1/255
// EIGHT_BITS  quantise the layer to 8 bits of linear light
// u_layer, u_matte: linear premultiplied targets; the matte is read through 8 bits. Out: linear premultiplied.
#include "frame.glsl"
#include "color.glsl"
#include "matte.glsl"
#if GLOW != 0
#include "glow.glsl"
#endif

out vec4 o_color;

#if GLOW != 2
uniform sampler2D u_layer;
uniform vec4 u_layer_region;
#endif
uniform float u_opacity;

vec4 grown(vec4 t) {
#ifdef TAILS
    return t;
#else
    return resampled(t);
#endif
}

void main() {
#if GLOW == 2
    vec4 layer = grown(glow_at(v_frame));
#else
    vec4 layer = resampled(texel_of(u_layer, u_layer_region, v_frame));
#if GLOW == 1
    layer = grown(layer + glow_at(v_frame) * (1.0 - layer.a));
#endif
#endif
#ifdef EIGHT_BITS
    layer = to_8_bits(layer);
#endif
    o_color = layer * (u_opacity * matte(v_frame));
}
