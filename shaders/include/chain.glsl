// GPU route of effects (effects.md 3): passes over a layer's buffer in screen space.
// in: u_source, linear premultiplied. With IN_PLACE it is the target itself, for passes that read no other pixel. With
// JOINED it is the previous pass's f_color (shaders/joining.py). u_box: the layer's bounding rectangle, frame px.
// u_layer_size: its own size, px.
// out: f_color, linear premultiplied.
// Layer coordinates start at the box's top-left corner. With u_mirrored they are upside down about the frame's middle,
// as in the reference's export (3.5): every position below is then mirrored, and buffer_at mirrors it back.
// Effects that read the buffer at other pixels include around.glsl.
#include "frame.glsl"
#include "color.glsl"
#include "formulas.glsl"

uniform vec2 u_frame_size;
uniform vec2 u_pixel_size;  // 1 / u_frame_size, which graphics cards round
uniform vec4 u_box;
uniform vec2 u_layer_size;
uniform bool u_mirrored;
uniform vec2 u_length_scale;  // texels per output px (3.6): 1, except in the buffers of planes
#ifdef IN_PLACE
layout(location = 0) inout vec4 f_color;
#else
uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;
#endif

vec2 mirrored(vec2 position) {
    return u_mirrored ? vec2(position.x, u_frame_size.y - position.y) : position;
}

// This pixel's position in the shader's own space: px, and as fractions of the frame (u, v).
vec2 position() {
    return mirrored(v_frame);
}

vec2 uv() {
    // by the reciprocal, like interpolated coordinates: hashes depend on their last bits
    EXACT vec2 fractions = position() * u_pixel_size;
    return fractions;
}

// Size of the area that positions of place() cover.
vec2 extent() {
    return u_layer_size;
}

vec2 center() {
    return 0.5 * extent();
}

// This pixel in layer px.
vec2 place() {
    return (position() - u_box.xy) / u_box.zw * u_layer_size;
}

bool inside(vec2 q) {
    return all(greaterThanEqual(q, vec2(0.0))) && all(lessThanEqual(q, extent()));
}

// Sets f_color to the picture's pixel, for the first of several joined passes.
void begin() {
#ifndef IN_PLACE
    f_color = texel_of(u_source, u_source_region, v_frame);
#endif
}

// Buffer at this pixel. Read it before `put`.
vec4 here() {
#if defined(IN_PLACE) || defined(JOINED)
    return f_color;
#else
    return texel_of(u_source, u_source_region, v_frame);
#endif
}

vec4 encoded(vec4 t) {
    return t.a > 0.0 ? vec4(linear_to_srgb(t.rgb / t.a), t.a) : vec4(0.0);
}

// Straight sRGB-encoded colour of this pixel.
vec4 encoded_here() {
    return encoded(here());
}

void put(vec4 color) {
    f_color = color;
}

void put_encoded(vec4 c) {
    f_color = vec4(srgb_to_linear(clamp(c.rgb, 0.0, 1.0)) * c.a, c.a);
}

// Stores a new colour for a pixel whose encoded colour was `own`.
void put_color(vec4 own, vec3 rgb) {
    put_encoded(vec4(rgb, own.a));
}

// Colour of pixels outside the layer: unchanged, or erased, depending on the pass (3.7).
void put_through() {
    f_color = here();
}

void put_erased() {
    f_color = vec4(0.0);
}
