// Glow buffer of a layer: linear premultiplied, at a fraction of the frame's size (gpu_renderer/effects/layer_buffer.py).
// The sides of its target are powers of two, so that positions in it are exact for any part of the frame.
// FINE: it has the frame's size, and is read at pixel centres only.

uniform sampler2D u_glow;
uniform vec4 u_glow_region;  // cells
uniform float u_glow_cells_per_px;

vec4 glow_at(vec2 frame) {
#ifdef FINE
    return texel_of(u_glow, u_glow_region, frame);
#else
    return texture(u_glow, (frame * u_glow_cells_per_px - u_glow_region.xy) / u_glow_region.zw);
#endif
}
