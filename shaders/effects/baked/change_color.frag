// Shifts hue, saturation and lightness of one colour (effects.md 8.5).
#include "effect.glsl"
#include "hsl_match.glsl"

uniform vec4 u_target_color;  // straight sRGB
uniform float u_hue_shift;    // degrees
uniform float u_sat_scale, u_light_scale;  // percent
uniform bool u_invert_selection;

void main() {
    vec4 c = here();
    vec3 own = rgb_to_hsl(c.rgb);
    float share = hsl_match(own, rgb_to_hsl(u_target_color.rgb));
    if (u_invert_selection) share = 1.0 - share;
    vec3 changed = vec3(
        fract(own.x + u_hue_shift / 360.0),
        clamp(own.yz * (1.0 + vec2(u_sat_scale, u_light_scale) / 100.0), 0.0, 1.0));
    put_color(c, mix(c.rgb, hsl_to_rgb(changed), share));
}
