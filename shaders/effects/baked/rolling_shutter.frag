// Skews the picture as a scanning shutter does (effects.md 8.8).
#include "warp.glsl"

uniform float u_sweep, u_wobble;  // px
uniform float u_scan_direction;  // 1: the scan begins at the far side
uniform bool u_vertical_scan;

vec2 source(vec2 q) {
    float t = u_vertical_scan ? q.x / extent().x : q.y / extent().y;
    if (floor(u_scan_direction + 0.5) == 1.0) t = 1.0 - t;
    float shift = u_sweep * t + u_wobble * sin(2.0 * PI * t);
    return u_vertical_scan ? q - vec2(0.0, shift) : q - vec2(shift, 0.0);
}
