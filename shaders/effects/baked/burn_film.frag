// Film burning through from a point, its edge charred and glowing (effects.md 8.9).
#include "effect.glsl"
#include "hash.glsl"
#include "hsl.glsl"
#include "middle.glsl"

uniform float u_burn, u_randomness;    // percent
uniform vec4 u_burn_color, u_char_color;  // straight sRGB
uniform ivec2 u_keys[2];  // hash keys of the seed, for sums above and below zero
uniform float u_key;      // the key itself, in units of the hash's first factor

float random(ivec2 p) {
    bool below = float(p.x) + float(p.y) * (668265263.0 / 374761393.0) + u_key < 0.0;
    return hash_a(p.x, p.y, u_keys[below ? 1 : 0]);
}

void main() {
    float t = u_burn / 100.0;
    float far = length(max(middle(), extent() - middle())), hot = 1.15 * t * far;
    float ragged = (random(pixel()) - 0.5) * u_randomness / 100.0 * 0.18 * far;
    float front = distance(place(), middle()) - ragged;
    vec4 c = here();
    vec3 hsl = rgb_to_hsl(c.rgb);
    vec3 shown = hsl_to_rgb(vec3(hsl.x, clamp(hsl.y * (1.0 - 0.385 * t), 0.0, 1.0), clamp(hsl.z + 0.1375 * t, 0.0, 1.0)));
    float alpha = c.a;
    if (hot > 0.0 && front <= hot) {
        shown = u_burn_color.rgb;
        alpha *= clamp(0.35 * front / hot, 0.0, 1.0);
    } else if (hot > 0.0 && front <= 1.18 * hot) {
        shown = mix(shown, u_char_color.rgb, 1.0 - (front - hot) / (0.18 * hot));
    }
    put(vec4(shown, alpha));
}
