// Reflects one side of a line onto the other (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_angle;

vec2 source(vec2 q) {
    vec2 normal = direction(u_angle);
    float d = dot(q - middle(), normal);
    return d > 0.0 ? q - 2.0 * d * normal : q;
}
