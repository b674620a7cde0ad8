// Each pixel shows one nearby, chosen at random (effects.md 8.9). u_keys: hash keys of x and y.
#include "canvas.glsl"
#include "hash.glsl"

uniform float u_amount;
uniform float u_grain;  // 1 across only, 2 down only
uniform ivec2 u_keys[2];

void main() {
    ivec2 p = pixel();
    vec2 shift = 2.0 * vec2(hash_b(p.x, p.y, u_keys[0]), hash_b(p.x, p.y, u_keys[1])) - 1.0;
    float grain = floor(u_grain + 0.5);
    shift *= u_amount * vec2(grain == 2.0 ? 0.0 : 1.0, grain == 1.0 ? 0.0 : 1.0);
    put(texel_clamped(ivec2(floor(vec2(p) + shift + 0.5))));
}
