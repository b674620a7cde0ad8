// Stores the light of stars, u_marks, crossfaded to the picture by a share: colours weighted by alpha (effects.md 8.6).
#include "canvas.glsl"

uniform sampler2D u_marks;
uniform float u_share;

void main() {
    vec4 m = clamp(texelFetch(u_marks, pixel(), 0), 0.0, 1.0), own = here();
    if (u_share == 0.0) {
        put(m);
        return;
    }
    float alpha = mix(m.a, own.a, u_share);
    vec3 color = mix(m.rgb * m.a, own.rgb * own.a, u_share);
    put(vec4(alpha > 0.0 ? color / alpha : vec3(0.0), alpha));
}
