// Frame coordinates: positions are output pixels, origin top-left, y down. A target holds a region of the frame,
// given as (x, y, width, height); row 0 of its texture is the region's top row.
// Everything is computed from whole frame pixels, so that a pass gives the same bytes for every region of its targets.

// Uniforms can be passed as flat varyings (gpu_renderer/opengl/programs.py): declare them at the start of a line.
uniform vec4 u_region;  // region that the target being drawn holds

// This pixel's position in the frame, its centre at +0.5. It is exact, unlike an interpolated varying.
// FLIPPED: the target is drawn upside down, so that its samples lie as in the reference, whose rows count upwards.
// SAMPLE_DEPTH: the shader runs for each sample, and gl_FragCoord is the sample's position.
#ifdef SAMPLE_DEPTH
#define PIXEL_CENTRE (floor(gl_FragCoord.xy) + 0.5)
#else
#define PIXEL_CENTRE gl_FragCoord.xy
#endif
#ifdef FLIPPED
#define v_frame vec2(PIXEL_CENTRE.x + u_region.x, u_region.y + u_region.w - PIXEL_CENTRE.y)
#else
#define v_frame (PIXEL_CENTRE + u_region.xy)
#endif

// Texture coordinates of a frame position in a target that holds `region`.
vec2 within(vec4 region, vec2 frame) {
    return (frame - region.xy) / region.zw;
}

bool holds_frame(vec4 region, vec2 frame) {
    return all(greaterThanEqual(frame, region.xy)) && all(lessThan(frame, region.xy + region.zw));
}

// Texel of a target at a frame position. Beyond the target its edge repeats.
vec4 texel_of(sampler2D target, vec4 region, vec2 frame) {
    return texelFetch(target, clamp(ivec2(floor(frame) - region.xy), ivec2(0), ivec2(region.zw) - 1), 0);
}

// Bilinear mix of the four texels around a frame position. Beyond the target its edge repeats.
vec4 sample_of(sampler2D target, vec4 region, vec2 frame) {
    vec2 corner = floor(frame - 0.5), part = frame - 0.5 - corner;
    ivec2 low = ivec2(corner - region.xy), last = ivec2(region.zw) - 1;
    ivec2 p = clamp(low, ivec2(0), last), next = clamp(low + 1, ivec2(0), last);
    vec4 top = mix(texelFetch(target, p, 0), texelFetch(target, ivec2(next.x, p.y), 0), part.x);
    vec4 bottom = mix(texelFetch(target, ivec2(p.x, next.y), 0), texelFetch(target, next, 0), part.x);
    return mix(top, bottom, part.y);
}
