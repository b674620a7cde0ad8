// Dissolves in random blocks; with a feather the edges of vanished blocks linger (effects.md 8.11).
#include "wipe.glsl"
#include "hash.glsl"

uniform float u_block_width, u_block_height, u_feather;  // px
uniform ivec2 u_key;  // key of the seed

float keep() {
    if (progress() >= 1.0) return 0.0;  // also in the feathered edges of the blocks
    vec2 block = max(vec2(1.0), floor(vec2(u_block_width, u_block_height) + 0.5));
    vec2 at = vec2(pixel()), corner = quotient(at, block), inset = at - corner * block;
    if (hash_b(int(corner.x), int(corner.y), u_key) >= progress()) return 1.0;
    vec2 near = min(inset, block - 1.0 - inset);
    return u_feather > 0.0 ? 1.0 - min(near.x, near.y) / u_feather : 0.0;
}
