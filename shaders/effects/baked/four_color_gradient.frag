// A blend of four corner colours over the picture (effects.md 8.6).
#include "canvas.glsl"
#include "cubic.glsl"

uniform vec4 u_color_tl;
uniform vec4 u_color_tr;
uniform vec4 u_color_bl;
uniform vec4 u_color_br;
uniform float u_blend;

// Share of the second of two colours that are enlarged over a side, with their edges repeated.
float share(float f) {
    return u_is_image ? cubic(1.0 - f) + cubic(2.0 - f) : f;
}

void main() {
    vec2 f = place() / extent();
    f = vec2(share(f.x), share(f.y));
    vec3 tone = mix(mix(u_color_tl.rgb, u_color_tr.rgb, f.x), mix(u_color_bl.rgb, u_color_br.rgb, f.x), f.y);
    vec4 c = here();
    put(vec4(mix(c.rgb, tone, clamp(u_blend / 100.0, 0.0, 1.0)), c.a));
}
