// A shadow projected from a lamp, u_shadow in one colour below the picture, or alone (effects.md 8.2).
#include "canvas.glsl"

uniform sampler2D u_shadow;
uniform vec4 u_shadow_color;
uniform float u_shadow_opacity;
uniform float u_render_mode;  // 1: the shadow alone

void main() {
    float s = texelFetch(u_shadow, pixel(), 0).a * u_shadow_opacity / 100.0;
    vec4 c = here();
    if (floor(u_render_mode + 0.5) == 1.0) {
        put(vec4(u_shadow_color.rgb, s));
        return;
    }
    float a = c.a + s * (1.0 - c.a);
    put(vec4(a > 0.0 ? (c.rgb * c.a + u_shadow_color.rgb * s * (1.0 - c.a)) / a : vec3(0.0), a));
}
