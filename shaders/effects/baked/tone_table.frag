// Maps the channels, or the brightness, by a table computed from the picture's own histogram (effects.md 8.5).
#include "effect.glsl"

uniform sampler2D u_table;  // 256 entries
uniform bool u_by_luma;     // index all channels by the rounded luma
uniform float u_blend;      // percent of the source

void main() {
    vec4 c = here();
    ivec3 index = ivec3(c.rgb * 255.0 + 0.5);
    if (u_by_luma) index = ivec3(floor(luma709(c.rgb) * 255.0 + 0.5));
    vec3 mapped = vec3(
        texelFetch(u_table, ivec2(index.r, 0), 0).r,
        texelFetch(u_table, ivec2(index.g, 0), 0).g,
        texelFetch(u_table, ivec2(index.b, 0), 0).b);
    put_color(c, mix(mapped, c.rgb, u_blend / 100.0));
}
