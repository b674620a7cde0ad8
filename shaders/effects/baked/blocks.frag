// Each pixel takes the colour of its block: u_blocks, a texel a block, whose bounds are whole px (effects.md 8.9).
#include "canvas.glsl"

uniform sampler2D u_blocks;  // straight

void main() {
    vec2 blocks = vec2(textureSize(u_blocks, 0)), p = floor(v_frame);
    vec2 block = min(quotient((p + 0.5) * blocks, u_canvas_size), blocks - 1.0);
    block -= vec2(lessThan(p, quotient(block * u_canvas_size, blocks)));
    block += vec2(greaterThanEqual(p, quotient((block + 1.0) * u_canvas_size, blocks)));
    put(texelFetch(u_blocks, ivec2(block), 0));
}
