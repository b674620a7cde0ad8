// Random holes in the alpha (effects.md 8.7).
#include "canvas.glsl"
#include "hash.glsl"

uniform float u_amount;
uniform bool u_uniform_noise;
#ifdef HASHED
uniform sampler2D u_hashes;  // hash of each pixel

float hash_here() {
    return texelFetch(u_hashes, pixel(), 0).r;
}
#else
uniform float u_seed;
uniform float u_noise_phase;

float hash_here() {
    int seed = int(floor(u_seed + 0.5)), phase = int(floor(u_noise_phase + 0.5));
    return h2(pixel().x + seed + 7919 * phase, pixel().y - seed + 104729 * phase);
}
#endif

void main() {
    float n = hash_here();
    vec4 c = here();
    put(vec4(c.rgb, c.a * (1.0 - u_amount / 100.0 * (u_uniform_noise ? n : n * n))));
}
