// Draws the edges of the picture: a Sobel operator on its luma (effects.md 8.9).
#include "effect.glsl"
#include "around.glsl"

uniform bool u_invert;
uniform float u_blend_with_original;

float l(vec2 q) {
    return luma601(encoded_texel(clamp(q, vec2(0.5), extent() - 0.5)).rgb);
}

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_erased();
        return;
    }
    float tl = l(q + vec2(-1.0, -1.0)), t = l(q + vec2(0.0, -1.0)), tr = l(q + vec2(1.0, -1.0)), ml = l(q + vec2(-1.0, 0.0));
    float mr = l(q + vec2(1.0, 0.0)), bl = l(q + vec2(-1.0, 1.0)), b = l(q + vec2(0.0, 1.0)), br = l(q + vec2(1.0, 1.0));
    vec2 g = vec2(tr + 2.0 * mr + br - tl - 2.0 * ml - bl, bl + 2.0 * b + br - tl - 2.0 * t - tr);
    float m = min(1.0, length(g));
    vec4 c = encoded_here();
    put_color(c, mix(vec3(u_invert ? 1.0 - m : m), c.rgb, u_blend_with_original / 100.0));
}
