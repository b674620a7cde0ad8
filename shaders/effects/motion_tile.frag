// Repeats the frame in tiles (effects.md 8.8).
#include "chain.glsl"
#include "around.glsl"

uniform float u_scale;

// The reference's sampler repeats the frame here (3.1): between two tiles it mixes the opposite edges.
vec4 repeated_at(vec2 position) {
    vec2 corner = floor(position - 0.5), part = position - 0.5 - corner;
    vec2 low = remainder(corner, u_frame_size) + 0.5, next = remainder(corner + 1.0, u_frame_size) + 0.5;
    vec4 top = mix(texel_of(u_source, u_source_region, low), texel_of(u_source, u_source_region, vec2(next.x, low.y)), part.x);
    vec4 bottom = mix(texel_of(u_source, u_source_region, vec2(low.x, next.y)), texel_of(u_source, u_source_region, next), part.x);
    return mix(top, bottom, part.y);
}

void main() {
    put(repeated_at(mirrored(fract(uv() * u_scale) * u_frame_size)));
}
