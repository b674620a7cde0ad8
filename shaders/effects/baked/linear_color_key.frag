// Keys out colours near a colour, by rgb, by hue, or by rgb at equal brightness (effects.md 8.10).
#include "effect.glsl"
#include "hsl.glsl"

uniform vec4 u_key_color;  // straight sRGB
uniform float u_match_on;  // 0 rgb, 1 hue, 2 rgb at equal brightness
uniform float u_tolerance, u_softness;  // percent
uniform bool u_keep_matched;
const float LARGEST = 441.673;  // from black to white in levels: 255 sqrt(3), as the format rounds it

float off(vec3 c) {
    if (u_match_on == 1.0) return 2.0 * hue_distance(rgb_to_hsl(c).x, rgb_to_hsl(u_key_color.rgb).x);
    if (u_match_on == 2.0) {
        float own = luma601(c), wanted = luma601(u_key_color.rgb);
        if (own <= 0.5 / 255.0) return wanted <= 0.5 / 255.0 ? 0.0 : 1.0;
        c *= wanted / own;
    }
    return min(1.0, distance(c, u_key_color.rgb) * 255.0 / LARGEST);
}

void main() {
    vec4 c = here();
    float beyond = off(c.rgb) - u_tolerance / 100.0, softness = u_softness / 100.0;
    float matched = beyond <= 0.0 ? 1.0 : softness > 0.0 ? clamp(1.0 - beyond / softness, 0.0, 1.0) : 0.0;
    put(vec4(c.rgb, c.a * (u_keep_matched ? matched : 1.0 - matched)));
}
