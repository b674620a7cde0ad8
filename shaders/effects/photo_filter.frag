// A coloured filter before the lens (effects.md 8.5).
#include "recolor.glsl"

uniform vec4 u_color;
uniform float u_density;
uniform bool u_preserve_luminosity;

vec3 changed(vec3 c) {
    vec3 o = c + (c * u_color.rgb - c) * u_density / 100.0;
    return u_preserve_luminosity && luma601(o) > 1e-4 ? o * luma601(c) / luma601(o) : o;
}
