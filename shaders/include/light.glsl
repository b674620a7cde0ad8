// Soft light behind a picture, linear premultiplied, kept at a fraction of the frame's size (gpu_renderer/effects/lit.py).
// The sides of its target are powers of two: positions in it are exact, whatever part of the frame it holds.
// FINE: it has the frame's size, and is asked for at pixels' centres only.

uniform sampler2D u_light;
uniform vec4 u_light_region;  // cells
uniform float u_light_share;  // cells a frame px

vec4 light_at(vec2 frame) {
#ifdef FINE
    return texel_of(u_light, u_light_region, frame);
#else
    return texture(u_light, (frame * u_light_share - u_light_region.xy) / u_light_region.zw);
#endif
}
