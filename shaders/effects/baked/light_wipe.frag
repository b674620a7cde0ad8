// Wipes behind a band of light, along a direction or outwards from a point (effects.md 8.11).
#include "effect.glsl"
#include "middle.glsl"

uniform float u_completion;  // percent
uniform float u_wipe_shape;  // 0 linear, 1 radial
uniform float u_angle;       // degrees
uniform float u_light_width, u_feather;  // px
uniform vec4 u_light_color;  // straight sRGB
uniform float u_intensity;   // percent

void main() {
    vec2 dir = direction(u_angle);
    bool radial = floor(u_wipe_shape + 0.5) == 1.0;
    float span = radial ? length(max(middle(), extent() - middle())) : dot(extent(), abs(dir));
    float at = radial ? distance(place(), middle()) : dot(place() - (center() - 0.5 * span * dir), dir);
    float front = min(1.0, u_completion / 100.0) * (span + u_light_width), feather = max(0.001, u_feather);
    float ahead = at - front;
    vec4 c = here();
    if (c.a > 0.0 && ahead >= 0.0 && ahead <= u_light_width && u_light_width > 0.0)
        c.rgb = mix(c.rgb, u_light_color.rgb, (1.0 - ahead / u_light_width) * u_intensity / 100.0);
    put(vec4(c.rgb, c.a * ramp(front - feather, front + feather, at)));
}
