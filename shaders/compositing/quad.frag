// Draws a layer's content on a quad in the frame (compositing.md 1.4, 2.5, 9).
//
// CONTENT   0 texture (sRGB-encoded, premultiplied, 8 bit), 1 rectangle, 2 ellipse (both analytic),
//           3 target (linear, premultiplied, in frame pixels), 4 texture of linear premultiplied texels on the quad,
//           5 texture whose alpha is the coverage of one colour
// SAMPLES   0 the scissor is the quad, 1 test of the pixel centre, 4 the standard sample positions of 4x MSAA
// PROJECTIVE, FOLDED, MASK, MATRIX, TABLES, ACES, GAIN, LIT, GRADIENT: features of the layer.
// IN_FLOAT: filter the texture in full precision
// SAMPLE_DEPTH: write the depth of each sample, see include/depth.glsl
// CELLS: a pixel of the target is a cell of u_cell frame pixels a side, and gets the mean of those within u_limit
// MODE, PRESERVE, BELOW, IN_PLACE: blend the content with the backdrop (include/combine.glsl); the result replaces the
// backdrop
//
// u_to_unit: frame pixels to the unit square of the quad. u_opacity: a factor. out: linear premultiplied.
#include "frame.glsl"
#include "color.glsl"
#include "color_stage.glsl"
#include "plane.glsl"
#include "texels.glsl"
#ifdef SAMPLE_DEPTH
#include "depth.glsl"
#endif

#ifdef MODE
#include "combine.glsl"
#else
out vec4 o_color;
#endif

uniform float u_opacity;
#ifdef CELLS
uniform float u_cell;
uniform vec4 u_limit;
#endif
#if CONTENT == 1 || CONTENT == 2
#ifdef GRADIENT
#include "gradient.glsl"
#else
uniform vec4 u_color;   // linear, straight
#endif
uniform vec2 u_size;    // layer px
uniform float u_radius; // layer px, rectangles only
uniform float u_hard;   // 1: no edge ramp
#elif CONTENT == 3
uniform sampler2D u_content;
uniform vec4 u_content_region;
#else
uniform sampler2D u_content;
uniform vec4 u_crop;    // x, y, width, height of the part shown, 0..1

// Position at which a texture is read. The centre of a pixel at an edge can lie outside, where a target holds nothing.
vec2 shown(vec2 unit) {
#if CONTENT == 4
    unit = clamp(unit, 0.0, 1.0);
#endif
    return u_crop.xy + unit * u_crop.zw;
}
#endif
#if CONTENT == 5
uniform vec4 u_color;   // linear, straight
#endif
#ifdef GAIN
uniform vec3 u_gain;  // factor of encoded colours
#endif
#ifdef MASK
uniform sampler2D u_mask;
#endif

#include "sdf.glsl"
#include "lights.glsl"

vec4 content(vec2 unit, vec2 frame) {
#if CONTENT == 1 || CONTENT == 2
    float inside = u_hard > 0.5 ? 1.0 : edge(unit, frame);
#ifdef GRADIENT
    vec4 color = gradient(unit);
#ifdef GAIN
    color.rgb *= u_gain;
#endif
    color.rgb = srgb_to_linear(color.rgb);
#ifdef ACES
    color.rgb = to_aces_cg(color.rgb);
#endif
#else
    vec4 color = u_color;
#endif
    return vec4(color.rgb, color.a * inside);
#elif CONTENT == 3
    return graded(straight(texel_of(u_content, u_content_region, frame)));
#elif CONTENT == 5
#ifdef IN_FLOAT
    float covered = between_texels(u_content, shown(unit)).a;
#else
    float covered = texture(u_content, shown(unit)).a;
#endif
    float alpha = u_color.a * covered;
    return graded(vec4(u_color.rgb, alpha < 1.0 / 255.0 ? 0.0 : alpha));
#else
#ifdef IN_FLOAT
    vec4 texel = straight(between_texels(u_content, shown(unit)));
#else
    vec4 texel = straight(texture(u_content, shown(unit)));
#endif
#ifdef GAIN
    texel.rgb *= u_gain;
#endif
#if CONTENT == 0 && defined(TABLES) && !defined(MATRIX) && !defined(ACES)
    return vec4(tabled(texel.rgb), texel.a);  // steep tables amplify the rounding of a conversion to linear light and back
#else
#if CONTENT == 0
    texel.rgb = srgb_to_linear(texel.rgb);
#endif
#ifdef ACES
    texel.rgb = to_aces_cg(texel.rgb);
#endif
    return graded(texel);
#endif
#endif
}

// The layer at a position: linear, straight.
vec4 shaded(vec2 frame) {
    vec2 unit = plane(frame);
    vec4 color = content(unit, frame);
    color.rgb = lit(color.rgb, unit);
    color.a *= u_opacity;
#ifdef MASK
    color.a *= texture(u_mask, unit).r;
#endif
    return color;
}

void main() {
#ifdef SAMPLE_DEPTH
    gl_FragDepth = sample_depth();
#endif
#ifdef CELLS
    vec2 corner = u_cell * floor(v_frame);
    vec4 sum = vec4(0.0);
    for (float y = 0.5; y < u_cell; y++) {
        for (float x = 0.5; x < u_cell; x++) {
            vec2 frame = clamp(corner + vec2(x, y), u_limit.xy + 0.5, u_limit.xy + u_limit.zw - 0.5);
            sum += premultiplied(shaded(frame)) * coverage(frame);
        }
    }
    o_color = sum / (u_cell * u_cell);
#else
    vec4 color = shaded(v_frame);
#ifdef MODE
    color.a *= coverage(v_frame);
    o_color = combined(color.a < 1.0 / 255.0 ? vec4(0.0) : vec4(clamp(color.rgb, 0.0, 1.0), color.a));
#else
    o_color = premultiplied(color) * coverage(v_frame);
#endif
#endif
}
