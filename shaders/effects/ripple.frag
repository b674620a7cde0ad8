// Rings of waves from a point (effects.md 8.8).
#include "warp.glsl"
#include "middle.glsl"

uniform float u_radius;
uniform float u_amplitude;
uniform float u_frequency;
uniform float u_phase;
uniform float u_decay;

vec2 source(vec2 q) {
    vec2 v = q - middle();
    float d = length(v), t = d / (u_radius > 0.0 ? u_radius : length(extent()));
    if (t > 1.0 || d <= 0.0) return q;
    float wave = sin(2.0 * PI * u_frequency * t - radians(u_phase));
    float push = u_amplitude * wave * eased(1.0 - t) * exp(-max(0.0, u_decay) * t);
    return middle() + v * (d - push) / d;
}
