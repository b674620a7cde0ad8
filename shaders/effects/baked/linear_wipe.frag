// Wipes along a direction: an edge of u_feather px moves across the canvas (effects.md 8.11).
#include "wipe.glsl"

uniform float u_wipe_angle;  // degrees
uniform float u_feather;     // px

float keep() {
    vec2 dir = direction(u_wipe_angle);
    float span = dot(extent(), abs(dir)), feather = max(u_feather, 0.01);
    float edge = (progress() - 0.5) * span;
    if (progress() >= 1.0) return 0.0;
    return 1.0 - to_8_bits((edge + 0.5 * feather - dot(place() - center(), dir)) / feather);
}
