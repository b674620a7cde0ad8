// Maps shadows, midtones and highlights to three colours (effects.md 8.5).
#include "recolor.glsl"

uniform vec4 u_highlights;
uniform vec4 u_midtones;
uniform vec4 u_shadows;
uniform float u_blend;

vec3 changed(vec3 c) {
    float t = luma601(c);
    vec3 tone = t <= 0.5 ? mix(u_shadows.rgb, u_midtones.rgb, 2.0 * t) : mix(u_midtones.rgb, u_highlights.rgb, 2.0 * t - 1.0);
    return mix(tone, c, u_blend / 100.0);
}
