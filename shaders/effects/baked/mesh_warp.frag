// Bends the picture by a lattice of four by four offsets (effects.md 8.8).
#include "warp.glsl"

uniform vec2 u_offsets[16];  // px, row by row

vec2 source(vec2 q) {
    vec2 at = q / extent() * 3.0;
    ivec2 cell = ivec2(clamp(floor(at), 0.0, 2.0));
    vec2 part = at - vec2(cell);
    int i = cell.y * 4 + cell.x;
    vec2 top = mix(u_offsets[i], u_offsets[i + 1], part.x);
    vec2 bottom = mix(u_offsets[i + 4], u_offsets[i + 5], part.x);
    return q - mix(top, bottom, part.y);
}
