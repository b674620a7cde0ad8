// Shading of bevels (effects.md 8.2): darkens edges, or lightens them with the colour of the light.
#include "chain.glsl"

uniform float u_thickness;
uniform float u_light_angle;
uniform vec4 u_light_color;
uniform float u_intensity;

vec4 lit(vec4 c, float shade) {
    return vec4(c.rgb * (1.0 - clamp(-shade, 0.0, 1.0)) + srgb_to_linear(u_light_color.rgb) * max(shade, 0.0) * c.a, c.a);
}
