// Takes a background colour out of half-transparent edges (effects.md 8.10).
#include "effect.glsl"

uniform vec4 u_background_color;  // straight sRGB
uniform float u_threshold, u_amount;  // percent

void main() {
    vec4 c = here();
    if (c.a <= u_threshold / 100.0 || c.a >= 1.0) {
        put_through();
        return;
    }
    vec3 clean = (c.rgb - u_background_color.rgb * (1.0 - c.a)) / c.a;
    put(vec4(mix(c.rgb, clean, u_amount / 100.0), c.a));
}
