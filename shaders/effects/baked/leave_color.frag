// Takes the colour out of all but one hue (effects.md 8.5).
#include "effect.glsl"
#include "hsl.glsl"

uniform vec4 u_target_color;  // straight sRGB
uniform float u_tolerance, u_softness, u_amount;  // percent

void main() {
    vec4 c = here();
    float tolerance = 0.005 * u_tolerance;
    float off = hue_distance(rgb_to_hsl(c.rgb).x, rgb_to_hsl(u_target_color.rgb).x);
    float keep = 1.0 - ramp(tolerance * (1.0 - u_softness / 100.0), tolerance, off);
    put_color(c, mix(c.rgb, vec3(luma709(c.rgb)), (1.0 - keep) * u_amount / 100.0));
}
