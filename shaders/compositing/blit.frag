// The last pass: straight colour, display transform, premultiplied again over black (compositing.md 1.6).
//
// DISPLAY  0 srgb, 1 aces, 2 pq, 3 hlg. ACES: the working space is ACEScg.
// OPAQUE: the scene's alpha is 1, except for rounding.
// QUANTISE: quantise the scene to 8 linear bits first (include/quantise.glsl).
// KEEP_ALPHA: write straight colour and its alpha, for files with an alpha channel.
// IN_PLACE: the scene is the framebuffer's first attachment, which is read and not written. Otherwise it is u_scene.
// in: linear premultiplied. out: display-encoded, opaque unless KEEP_ALPHA. The 8-bit target rounds to nearest.
#include "frame.glsl"
#include "color.glsl"
#include "color_stage.glsl"
#include "quantise.glsl"

#ifdef IN_PLACE
layout(location = 0) inout vec4 io_scene;
layout(location = 1) out vec4 o_color;
#else
out vec4 o_color;

uniform sampler2D u_scene;
uniform vec4 u_scene_region;
#endif

vec4 scene() {
#ifdef IN_PLACE
    return io_scene;
#else
    return texel_of(u_scene, u_scene_region, v_frame);
#endif
}

vec3 to_rec709(vec3 c) {
    return vec3(dot(c, vec3(1.6410233797, -0.3248032942, -0.2364246952)),
                dot(c, vec3(-0.6636628587, 1.6153315917, 0.0167563477)),
                dot(c, vec3(0.0117218943, -0.0082844420, 0.9883948585)));
}

vec3 aces(vec3 v) {
    v = max(v, 0.0);
    return clamp((v * (v + 0.0245786) - 0.0000905377) / (v * (0.983729 * v + 0.4329510) + 0.238081), 0.0, 1.0);
}

vec3 pq(vec3 v) {
    vec3 y = pow(max(v, 0.0) / 100.0, vec3(0.1593017578125));
    return pow((0.8359375 + 18.8515625 * y) / (1.0 + 18.6875 * y), vec3(78.84375));
}

vec3 hlg(vec3 v) {
    v = max(v, 0.0);
    // at 1, the curves differ: white belongs to the root
    return mix(0.17864055 * log(max(v - 0.28466892, 1e-6)) + 0.55991073, 0.17864055 * sqrt(v), step(v, vec3(1.0)));
}

vec3 displayed(vec3 v) {
#if DISPLAY == 0
    return linear_to_srgb(v);
#elif DISPLAY == 1
#ifndef ACES
    v = to_aces_cg(v);
#endif
    return aces(v);
#else
#ifdef ACES
    v = to_rec709(v);
#endif
#if DISPLAY == 2
    return pq(v);
#else
    return hlg(v);
#endif
#endif
}

// Colour to be displayed, and its alpha.
vec4 shown() {
#if defined(OPAQUE) && defined(QUANTISE)
    return vec4(levels(scene()).rgb, 1.0);
#elif defined(OPAQUE) && DISPLAY == 0
    return vec4(max(scene().rgb, 0.0), 1.0);  // the 8-bit target clamps values above 1
#elif defined(OPAQUE)
    return vec4(clamp(scene().rgb, 0.0, 1.0), 1.0);
#elif defined(QUANTISE)
    return straight(quantised(scene()));
#else
    return straight(scene());
#endif
}

void main() {
    vec4 color = shown();
    // an additive blend can give an alpha above 1; the 8-bit surface clamps it after the multiplication (3.1)
#ifdef KEEP_ALPHA
    float alpha = to_8_bits(color.a);
    o_color = alpha > 0.0 ? vec4(displayed(color.rgb), alpha) : vec4(0.0);
#else
    o_color = vec4(displayed(color.rgb) * color.a, 1.0);
#endif
}
