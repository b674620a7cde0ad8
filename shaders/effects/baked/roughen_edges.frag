// Eats into the alpha with noise, then sharpens what is left (effects.md 8.9). u_keys: the hash key of each octave.
#include "canvas.glsl"
#include "hash.glsl"

uniform float u_edge_sharpness;
uniform float u_scale;
uniform float u_complexity;
uniform float u_evolution;
uniform ivec2 u_keys[6];

void main() {
    int octaves = int(clamp(floor(u_complexity + 0.5), 1.0, 6.0));
    float frequency = 1.0 / max(1.0, 0.2 * u_scale), e = u_evolution / 60.0, sum = 0.0, weights = 0.0, weight = 1.0;
    for (int k = 0; k < octaves; k++) {
        sum += weight * value_noise_b(frequency * vec2(pixel()) + e, u_keys[k]);
        weights += weight;
        weight *= 0.5;
        frequency *= 2.0;
    }
    vec4 c = here();
    float a = max(0.0, c.a - sum / weights);
    if (u_edge_sharpness > 0.0) a = clamp((a - 0.5) * (1.0 + 2.0 * u_edge_sharpness) + 0.5, 0.0, 1.0);
    put(vec4(c.rgb, a));
}
