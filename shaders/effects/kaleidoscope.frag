// Mirrors a wedge of the picture around a point (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_segments;
uniform float u_rotation;
uniform float u_source_angle;
uniform float u_zoom;

vec2 source(vec2 q) {
    float n = clamp(floor(u_segments + 0.5), 1.0, 64.0), wedge = 2.0 * PI / n;
    vec2 v = q - middle();
    float angle = angle_of(v) - radians(u_rotation), a = mod(angle, wedge);
    if (mod(angle, 2.0 * wedge) >= wedge) a = wedge - a;
    a += radians(u_source_angle);
    return middle() + length(v) * 100.0 / max(1.0, u_zoom) * vec2(cos(a), sin(a));
}
