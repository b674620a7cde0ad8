// Random brightness for each pixel (effects.md 8.7): a sine hash in linear light on the GPU route, an integer hash on
// bytes on a canvas. u_keys: the hash keys of the three channels.
#include "effect.glsl"
#include "hash.glsl"

uniform float u_amount;
uniform float u_evolution;
uniform bool u_monochrome;

#ifdef BAKED
uniform ivec2 u_keys[3];

void main() {
    vec4 c = here();
    ivec2 p = pixel();
    vec3 n = vec3(hash_a(p.x, p.y, u_keys[0]));
    if (!u_monochrome) n = vec3(n.r, hash_a(p.x, p.y, u_keys[1]), hash_a(p.x, p.y, u_keys[2]));
    if (c.a == 0.0) {
        put_through();
        return;
    }
    put(vec4(c.rgb + (2.0 * n - 1.0) * u_amount / 100.0, c.a));
}
#else
float random(vec2 q) {
    return fract(sin(dot(q, vec2(12.9898, 78.233))) * 43758.5453);
}

void main() {
    vec4 c = here();
    vec3 n = vec3(random(uv() + 0.01 * u_evolution));
    if (!u_monochrome) n = vec3(n.r, random(1.3 * uv() + 0.02 * u_evolution), random(1.7 * uv() + 0.03 * u_evolution));
    vec3 rgb = c.a > 0.0 ? c.rgb / c.a : vec3(0.0);
    put(vec4(clamp(rgb + (n - 0.5) * u_amount / 100.0, 0.0, 1.0) * c.a, c.a));
}
#endif
