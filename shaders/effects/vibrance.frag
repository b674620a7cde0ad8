// Saturates dull colours more than vivid ones (effects.md 8.5).
#include "recolor.glsl"

uniform float u_vibrance;
uniform float u_saturation;

vec3 changed(vec3 c) {
    float l = luma601(c), spread = max(c.r, max(c.g, c.b)) - min(c.r, min(c.g, c.b));
    return l + (c - l) * (1.0 + u_saturation / 100.0 + u_vibrance / 100.0 * (1.0 - spread));
}
