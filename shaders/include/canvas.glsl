// Raster route of effects (effects.md 4): kernels over a layer's own canvas, before its transform.
// in:  u_source, 8-bit sRGB-encoded premultiplied, row 0 on top, size u_canvas_size px. Kernels read straight bytes.
// out: f_color, encoded premultiplied; the target rounds it to 8 bits.
// Positions are canvas px, pixel centres at +0.5. Parameters in px arrive in canvas px.
#include "frame.glsl"
#include "color.glsl"
#include "formulas.glsl"

uniform sampler2D u_source;
uniform vec2 u_canvas_size;
out vec4 f_color;

// Byte stores round half to even (effects.md 6).
vec4 as_bytes(vec4 c) {
    return roundEven(clamp(c, 0.0, 1.0) * 255.0) / 255.0;
}

// A sum of products of bytes over 255, as the reference's canvas rounds it: (sum + 255) / 256, without the fraction.
// Bytes are given and returned over 255.
vec4 rounded_up(vec4 products) {
    return floor((round(products * 65025.0) + 255.0) / 256.0) / 255.0;
}

// A straight colour painted source-atop over a premultiplied texel, rounded as the reference's canvas does.
vec4 painted_atop(vec4 under, vec4 color, float opacity, float coverage) {
    vec4 over = rounded_up(as_bytes(vec4(color.rgb, 1.0) * color.a * opacity) * to_8_bits(coverage));
    return rounded_up(over * under.a + under * (1.0 - over.a));
}

// Dither of a canvas's gradients at this pixel, up to half a level, in the order of Skia on the processor.
float dither() {
    ivec2 p = ivec2(v_frame), q = ivec2(p.x, p.x ^ p.y);
    int rank = (q.y & 1) << 5 | (q.x & 1) << 4 | (q.y & 2) << 2 | (q.x & 2) << 1 | (q.y & 4) >> 1 | (q.x & 4) >> 2;
    return (float(rank) / 64.0 - 63.0 / 128.0) / 255.0;
}

// A premultiplied colour of a gradient, dithered.
vec4 dithered(vec4 color) {
    return vec4(clamp(color.rgb + dither(), 0.0, color.a), color.a);
}

// Straight colour of a premultiplied texel, as bytes over 255.
vec4 unpremultiplied_bytes(vec4 t) {
    return t.a > 0.0 ? vec4(min(floor(t.rgb / t.a * 255.0 + 0.5), 255.0) / 255.0, t.a) : vec4(0.0);
}

// Straight colour of a texel of the canvas. With STRAIGHT_IN the canvas is already straight, and
// transparent pixels keep their colours (effects.md 4.7).
vec4 straight_bytes(vec4 t) {
#ifdef STRAIGHT_IN
    return t;
#else
    return unpremultiplied_bytes(t);
#endif
}

bool on_canvas(ivec2 p) {
    return p.x >= 0 && p.y >= 0 && p.x < int(u_canvas_size.x) && p.y < int(u_canvas_size.y);
}

// Straight texel of the nearest pixel on the canvas, or transparent outside.
vec4 texel_clamped(ivec2 p) {
    return straight_bytes(texelFetch(u_source, clamp(p, ivec2(0), ivec2(u_canvas_size) - 1), 0));
}

vec4 texel(ivec2 p) {
    return on_canvas(p) ? texel_clamped(p) : vec4(0.0);
}

vec2 extent() {
    return u_canvas_size;
}

vec2 center() {
    return 0.5 * u_canvas_size;
}

// This pixel: its centre, its whole-number index, its straight colour.
vec2 place() {
    return v_frame;
}

ivec2 pixel() {
    return ivec2(v_frame);
}

bool inside(vec2 q) {
    return all(greaterThanEqual(q, vec2(0.0))) && all(lessThanEqual(q, extent()));
}

vec4 here() {
    return straight_bytes(texelFetch(u_source, ivec2(v_frame), 0));
}

vec4 straight_at(ivec2 p) {
    return straight_bytes(texelFetch(u_source, p, 0));
}

// Resampler R (effects.md 6): bilinear over straight texels, zero outside, no renormalisation.
vec4 sampled(vec2 q) {
    vec2 corner = floor(q - 0.5), part = q - 0.5 - corner;
    ivec2 p = ivec2(clamp(corner, vec2(-4.0), u_canvas_size + 4.0)), last = ivec2(u_canvas_size) - 1;
    ivec2 low = clamp(p, ivec2(0), last), next = clamp(p + 1, ivec2(0), last);
    vec2 has_low = vec2(equal(low, p)), has_next = vec2(equal(next, p + 1));  // 0 outside
    vec4 top = mix(straight_at(low) * has_low.x, straight_at(ivec2(next.x, low.y)) * has_next.x, part.x);
    vec4 bottom = mix(straight_at(ivec2(low.x, next.y)) * has_low.x, straight_at(next) * has_next.x, part.x);
    return mix(top * has_low.y, bottom * has_next.y, part.y);
}

// Resampler C (effects.md 6): bilinear in pixel-index coordinates, clamped to the canvas.
vec4 sampled_clamped(vec2 index) {
    vec2 q = clamp(index, vec2(0.0), u_canvas_size - 1.0), corner = floor(q), part = q - corner;
    ivec2 p = ivec2(corner), next = min(p + 1, ivec2(u_canvas_size) - 1);
    vec4 top = mix(straight_at(p), straight_at(ivec2(next.x, p.y)), part.x);
    vec4 bottom = mix(straight_at(ivec2(p.x, next.y)), straight_at(next), part.x);
    return mix(top, bottom, part.y);
}

// Canvas pixels are already straight encoded colours.
vec4 encoded_at(vec2 q) {
    return sampled(q);
}

// Same at a pixel's centre.
vec4 encoded_texel(vec2 q) {
    return texel(ivec2(floor(q)));
}

vec4 encoded_here() {
    return here();
}

// Stores a straight colour: rounded to bytes, then premultiplied.
void put(vec4 straight_color) {
    vec4 c = as_bytes(straight_color);
#ifdef STRAIGHT_OUT
    f_color = c;
#else
    f_color = vec4(c.rgb * c.a, c.a);
#endif
}

void put_encoded(vec4 c) {
    put(c);
}

// Stores a new colour for a pixel whose colour was `own`. Kernels skip transparent pixels, whose colour stays
// (effects.md 6).
void put_color(vec4 own, vec3 rgb) {
    put(own.a > 0.0 ? vec4(rgb, own.a) : own);
}

// Keeps the pixel unchanged, bit for bit, unless this pass converts the canvas to straight or premultiplied.
void put_through() {
    vec4 t = texelFetch(u_source, ivec2(v_frame), 0);
#ifdef STRAIGHT_OUT
    f_color = straight_bytes(t);
#elif defined(STRAIGHT_IN)
    f_color = vec4(t.rgb * t.a, t.a);
#else
    f_color = t;
#endif
}

void put_erased() {
    f_color = vec4(0.0);
}
