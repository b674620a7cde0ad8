// An advanced blend: the backdrop, read through 8 linear bits, and a layer, combined and replaced (compositing.md 3.2, 3.3).
//
// MODE: the number of the blend mode in the table of compositing.md 3.2. PRESERVE: keep the backdrop's transparency.
// EMPTY: there is no layer, and only the passage through 8 bits shows. IN_PLACE: the backdrop is what is written to.
// u_backdrop, u_layer: linear premultiplied targets. Out: linear premultiplied, to replace.
#ifdef IN_PLACE
#extension GL_EXT_shader_framebuffer_fetch : require
#endif
#include "frame.glsl"
#include "color.glsl"
#include "blend.glsl"

#ifdef IN_PLACE
layout(location = 0) inout vec4 o_color;
#else
out vec4 o_color;

uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
#endif
#ifndef EMPTY
uniform sampler2D u_layer;
uniform vec4 u_layer_region;
uniform float u_opacity;
#endif
#if MODE >= 35
uniform vec4 u_cells;  // comp width, height, and the frame's size in pixels
uniform uint u_seed;
#endif

vec4 backdrop_at(vec2 frame) {
#ifdef IN_PLACE
    return o_color;
#else
    return texel_of(u_backdrop, u_backdrop_region, frame);
#endif
}

// The layer's straight colour, and its alpha with the opacity.
vec4 layer_at(vec2 frame) {
#ifdef EMPTY
    return vec4(0.0);
#else
    vec4 t = texelFetch(u_layer, ivec2(frame - u_layer_region.xy), 0);
    return t.a < 1.0 / 255.0 ? vec4(0.0) : vec4(clamp(t.rgb * (1.0 / t.a), 0.0, 1.0), t.a * u_opacity);
#endif
}

#if MODE >= 35
// The dissolve pattern; rows count from the bottom, as in the reference.
float pattern(vec2 frame) {
    uint x = uint(floor(frame.x / u_cells.z * u_cells.x));
    uint y = uint(floor((1.0 - frame.y / u_cells.w) * u_cells.y));
    uint h = (x + 1u) * 374761393u + (y + 1u) * 668265263u + u_seed * 2246822519u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return float(h ^ (h >> 16)) / 4294967296.0;
}
#endif

void main() {
    vec4 D = floor(clamp(backdrop_at(v_frame), 0.0, 1.0) * 255.0 + 0.5) * (1.0 / 255.0);
    vec4 S = layer_at(v_frame);
    vec3 cs = S.rgb;
    vec3 cb = D.a > 1e-6 ? min(D.rgb * (1.0 / D.a), 1.0) : vec3(0.0);
#if MODE == 31
    o_color = D * S.a;
#elif MODE == 32
    o_color = D * (lum(cs) * S.a);
#elif MODE == 33
    o_color = D * (1.0 - S.a);
#elif MODE == 34
    o_color = D * (1.0 - lum(cs) * S.a);
#elif MODE >= 35
#ifdef PRESERVE
    o_color = pattern(v_frame) < S.a ? vec4(cs * D.a, D.a) : D;
#else
    o_color = pattern(v_frame) < S.a ? vec4(cs, 1.0) : D;
#endif
#else
    vec3 mixed = blended(cb, cs);
#ifdef PRESERVE
    vec3 co = D.a * (S.a * mixed + (1.0 - S.a) * cb);
    float ao = D.a;
#else
    vec3 co = S.a * (1.0 - D.a) * cs + S.a * D.a * mixed + (1.0 - S.a) * D.a * cb;
    float ao = S.a + D.a - S.a * D.a;
#if MODE == 29
    ao = min(1.0, S.a + D.a);
#elif MODE == 30
    co = S.a * cs + (1.0 - S.a) * D.rgb;
#endif
#endif
    o_color = ao > 1e-6 ? vec4(min(co, ao), ao) : vec4(0.0, 0.0, 0.0, ao);
#endif
}
