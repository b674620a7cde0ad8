// Rings of drops on water displace the picture (effects.md 8.8).
#include "warp.glsl"

uniform int u_drops;
uniform vec3 u_drop[90];  // position in canvas px, and spread of its ring, 0..1
uniform float u_ripple_height, u_spreading;  // px

vec2 source(vec2 q) {
    float spread = max(8.0, u_spreading), band = max(3.0, 0.08 * u_spreading);
    vec2 shift = vec2(0.0);
    for (int i = 0; i < u_drops; i++) {
        vec2 v = q - u_drop[i].xy;
        float r = length(v), cycle = u_drop[i].z, off = r - cycle * spread;
        if (r < 1e-3 || abs(off) > 2.5 * band) continue;
        float wave = sin(off * PI / (0.6 * band)) * u_ripple_height * (1.0 - cycle) * exp(-off * off / (2.0 * band * band));
        shift += v / r * wave;
    }
    return q + shift;
}
