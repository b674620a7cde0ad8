// A grey relief (effects.md 8.9).
#include "effect.glsl"
#include "around.glsl"

uniform float u_angle;
uniform float u_relief;
uniform float u_contrast;
uniform float u_blend;

float l(vec2 q) {
    return luma601(encoded_texel(clamp(floor(q) + 0.5, vec2(0.5), extent() - 0.5)).rgb);
}

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_erased();
        return;
    }
    vec2 r = u_relief * direction(u_angle);
    float v = clamp((128.0 + 255.0 * (l(q + r) - l(q - r)) * u_contrast / 100.0) / 255.0, 0.0, 1.0);
    vec4 c = encoded_here();
    put_color(c, mix(vec3(v), c.rgb, u_blend / 100.0));
}
