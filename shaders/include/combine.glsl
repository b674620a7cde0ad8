// Advanced blend of a layer and its backdrop, read through 8 linear bits, whose result replaces it (compositing.md 3.2,
// 3.3).
//
// MODE: the number of the blend mode in the table of compositing.md 3.2. PRESERVE: keep the backdrop's transparency.
// IN_PLACE: the backdrop is the target itself. Otherwise it is u_backdrop. Targets are linear premultiplied.
// BELOW: the backdrop's alpha is 1. It stays exactly 1, so the bytes are the same with or without BELOW.
#include "quantise.glsl"
#include "blend.glsl"

#ifdef IN_PLACE
layout(location = 0) inout vec4 o_color;
#else
out vec4 o_color;

uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
#endif
#if MODE == 35 || MODE == 36  // dissolve, dancing-dissolve
uniform vec4 u_cells;  // composition width and height, and the frame's size in pixels
uniform uint u_seed;
#endif

vec4 below() {
#ifdef IN_PLACE
    return o_color;
#else
    return texel_of(u_backdrop, u_backdrop_region, v_frame);
#endif
}

vec4 backdrop() {
#ifdef BELOW
    return vec4(levels(below()).rgb, 1.0);
#else
    return quantised(below());
#endif
}

#if MODE == 35 || MODE == 36
// Dissolve pattern. Rows count from the bottom, as in the reference.
float pattern(vec2 frame) {
    uint x = uint(floor(frame.x / u_cells.z * u_cells.x));
    uint y = uint(floor((1.0 - frame.y / u_cells.w) * u_cells.y));
    uint h = (x + 1u) * 374761393u + (y + 1u) * 668265263u + u_seed * 2246822519u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return float(h ^ (h >> 16)) / 4294967296.0;
}
#endif

// Returns the target's content after the layer, for a straight colour S. If S is transparent, all modes except stencils
// return D.
vec4 combined(vec4 S) {
    vec4 D = backdrop();
#if MODE == 31  // stencil-alpha
    return D * S.a;
#elif MODE == 32  // stencil-luma
    return D * (lum(S.rgb) * S.a);
#elif MODE == 33  // silhouette-alpha
    return D * (1.0 - S.a);
#elif MODE == 34  // silhouette-luma
    return D * (1.0 - lum(S.rgb) * S.a);
#elif MODE == 35 || MODE == 36
#ifdef PRESERVE
    return pattern(v_frame) < S.a ? vec4(S.rgb * D.a, D.a) : D;
#else
    return pattern(v_frame) < S.a ? vec4(S.rgb, 1.0) : D;
#endif
#else
    vec3 mixed = blended(D, S.rgb);
#ifdef PRESERVE
    return vec4(min(S.a * mixed + (1.0 - S.a) * D.rgb, D.a), D.a);
#else
    vec3 color = S.a * ((1.0 - D.a) * S.rgb + mixed) + (1.0 - S.a) * D.rgb;
    float alpha = S.a + D.a * (1.0 - S.a);
#if MODE == 29  // alpha-add
    alpha = min(1.0, S.a + D.a);
#elif MODE == 30  // luminescent-premul
    color = S.a * S.rgb + (1.0 - S.a) * D.rgb;
#endif
    return vec4(min(color, alpha), alpha);
#endif
#endif
}
