// Displaces the picture by fractal noise (effects.md 8.8).
#include "effect.glsl"
#include "hash.glsl"

uniform float u_amount, u_size;  // px
uniform float u_evolution;
uniform int u_octaves;
uniform ivec2 u_keys_x[6], u_keys_y[6];  // hash keys of each octave

void main() {
    vec2 q = vec2(pixel()), at = q / max(4.0, u_size);
    float e = 0.01 * u_evolution, weights = 0.0, weight = 1.0, frequency = 1.0;
    vec2 sum = vec2(0.0);
    for (int k = 0; k < u_octaves; k++) {
        float nx = value_noise_a(frequency * (at + vec2(e, 0.0)), u_keys_x[k]);
        float ny = value_noise_a(frequency * (at + vec2(0.0, e)), u_keys_y[k]);
        sum += weight * (2.0 * vec2(nx, ny) - 1.0);
        weights += weight;
        weight *= 0.5;
        frequency *= 2.0;
    }
    put(sampled_clamped(q - u_amount * sum / weights));
}
