// Turns one colour into another (effects.md 8.5).
#include "effect.glsl"
#include "hsl_match.glsl"

uniform vec4 u_from_color, u_to_color;  // straight sRGB
uniform bool u_preserve_lightness;

void main() {
    vec4 c = here();
    vec3 own = rgb_to_hsl(c.rgb), from = rgb_to_hsl(u_from_color.rgb), to = rgb_to_hsl(u_to_color.rgb);
    vec3 changed = to;
    if (u_preserve_lightness) changed.z = clamp(own.z + (to.z - from.z), 0.0, 1.0);
    put_color(c, mix(c.rgb, hsl_to_rgb(changed), hsl_match(own, from)));
}
