// Random brightness for each pixel (effects.md 8.7): a sine hash in linear light on the GPU route, an integer hash on
// bytes on a canvas. u_keys: the hash keys of the three channels. MONOCHROME: all channels use the first key.
#include "effect.glsl"
#include "hash.glsl"

uniform float u_amount;
uniform float u_evolution;

#ifdef BAKED
uniform ivec2 u_keys[3];

void main() {
    vec4 c = here();
    ivec2 p = pixel();
    vec3 n = vec3(hash_a(p.x, p.y, u_keys[0]));
#ifndef MONOCHROME
    n = vec3(n.r, hash_a(p.x, p.y, u_keys[1]), hash_a(p.x, p.y, u_keys[2]));
#endif
    if (c.a == 0.0) {
        put_through();
        return;
    }
    put(vec4(c.rgb + (2.0 * n - 1.0) * u_amount / 100.0, c.a));
}
#else
// Sine of the reference's software rasteriser: five terms, exact at 0, 30, 60 and 90 degrees. The hash depends on its
// last bits, so the order of operations must not change.
float reference_sine(float x) {
    EXACT float turns = x * -0.15915494309 + 0.25;
    EXACT float z = 0.25 - abs(turns - roundEven(turns));
    EXACT float square = z * z;
    EXACT float inner = 74.43889085 * square + -41.16936742;
    EXACT float outer = inner * square + 6.282308546;
    EXACT float sine = outer * z;
    return sine;
}

float random(vec2 q) {
    EXACT float at = q.x * 12.9898 + q.y * 78.233;
    EXACT float scaled = reference_sine(at) * 43758.5453;
    return scaled - floor(scaled);
}

void main() {
    vec4 c = here();
    vec3 n = vec3(random(uv() + 0.01 * u_evolution));
#ifndef MONOCHROME
    n = vec3(n.r, random(1.3 * uv() + 0.02 * u_evolution), random(1.7 * uv() + 0.03 * u_evolution));
#endif
    vec3 rgb = c.a > 0.0 ? c.rgb / c.a : vec3(0.0);
    put(vec4(clamp(rgb + (n - 0.5) * u_amount / 100.0, 0.0, 1.0) * c.a, c.a));
}
#endif
