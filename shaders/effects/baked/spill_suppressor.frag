// Takes the screen's colour out of the foreground (effects.md 8.10).
#include "effect.glsl"
#include "hsl.glsl"

uniform vec4 u_key_color;  // straight sRGB
uniform float u_amount;    // percent
uniform bool u_preserve_luma;

void main() {
    vec4 c = here();
    vec3 own = rgb_to_hsl(c.rgb);
    float key_hue = rgb_to_hsl(u_key_color.rgb).x;
    float near = (1.0 - ramp(0.08, 0.25, hue_distance(own.x, key_hue))) * clamp(2.0 * own.y, 0.0, 1.0);
    vec3 clean = c.rgb;
    if (key_hue > 0.25 && key_hue < 0.45) clean.g = min(c.g, 0.5 * (c.r + c.b));
    else if (key_hue >= 0.45 && key_hue < 0.75) clean.b = min(c.b, 0.5 * (c.r + c.g));
    else clean.r = min(c.r, 0.5 * (c.g + c.b));
    vec3 shown = mix(c.rgb, clean, near * u_amount / 100.0);
    float before = luma709(c.rgb), after = luma709(shown);
    if (u_preserve_luma && after > 1e-4) shown *= before / after;
    put_color(c, shown);
}
