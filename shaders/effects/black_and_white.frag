// Grey by the brightness of each hue, with an optional tint (effects.md 8.5).
#include "recolor.glsl"
#include "hsl.glsl"

uniform float u_reds;
uniform float u_yellows;
uniform float u_greens;
uniform float u_cyans;
uniform float u_blues;
uniform float u_magentas;
uniform bool u_tint;
uniform vec4 u_tint_color;

vec3 changed(vec3 c) {
    float high = max(c.r, max(c.g, c.b)), low = min(c.r, min(c.g, c.b)), middle = c.r + c.g + c.b - high - low;
    float primary = high == c.r ? u_reds : high == c.g ? u_greens : u_blues;
    float secondary = low == c.b ? u_yellows : low == c.r ? u_cyans : u_magentas;
    float grey = clamp(low + (middle - low) * secondary / 100.0 + (high - middle) * primary / 100.0, 0.0, 1.0);
    return u_tint ? hsl_to_rgb(vec3(rgb_to_hsl(u_tint_color.rgb).xy, grey)) : vec3(grey);
}
