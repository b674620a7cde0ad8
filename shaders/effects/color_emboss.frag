// A relief that keeps the colours (effects.md 8.9).
#include "effect.glsl"
#include "around.glsl"

uniform float u_direction;
uniform float u_relief;
uniform float u_contrast;
uniform float u_blend_with_original;

vec3 at(vec2 q) {
    return encoded_texel(clamp(q, vec2(0.5), extent() - 0.5)).rgb;
}

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_erased();
        return;
    }
    vec2 o = floor(max(1.0, u_relief) * direction(u_direction) + 0.5);
    vec4 c = encoded_here();
    vec3 relief = clamp(c.rgb + (at(q + o) - at(q - o)) * u_contrast / 100.0, 0.0, 1.0);
    put_color(c, mix(relief, c.rgb, u_blend_with_original / 100.0));
}
