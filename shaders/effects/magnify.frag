// A magnifying glass, round or square (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_magnification;
uniform float u_radius;
uniform float u_shape;  // 1 square, otherwise round
uniform float u_feather;

vec2 source(vec2 q) {
    vec2 v = q - middle();
    float d = floor(u_shape + 0.5) == 1.0 ? max(abs(v.x), abs(v.y)) : length(v);
    if (d > u_radius) return q;
    float soft = clamp(u_feather, 0.0, u_radius);
    float t = soft > 0.0 ? 1.0 - clamp((d - (u_radius - soft)) / soft, 0.0, 1.0) : 1.0;
    return middle() + v * (1.0 + (100.0 / max(1e-3, u_magnification) - 1.0) * eased(t));
}
