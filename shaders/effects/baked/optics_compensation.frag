// Bends the picture like a wide lens, or straightens it again (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_field_of_view;  // degrees
uniform bool u_reverse;

vec2 source(vec2 q) {
    float k = 0.5 * tan(0.5 * radians(u_field_of_view));
    float r = distance(q, middle()) / length(center()), bend = k * r * r;
    if (u_reverse) return middle() + (q - middle()) / (1.0 + bend);
    // (1 - sqrt(1 - 4 bend)) / (2 bend), rearranged because its digits cancel out for a small bend.
    return middle() + (q - middle()) * (4.0 * bend > 1.0 ? 0.5 / bend : 2.0 / (1.0 + sqrt(1.0 - 4.0 * bend)));
}
