// Frame coordinates: positions are output pixels, origin top-left, y down. A target holds a region of the frame,
// given as (x, y, width, height); row 0 of its texture is the region's top row.

uniform vec4 u_region;  // what the target being drawn holds

// The texture coordinates of a frame position in a target that holds `region`.
vec2 within(vec4 region, vec2 frame) {
    return (frame - region.xy) / region.zw;
}
