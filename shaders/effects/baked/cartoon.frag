// Flat tones and dark edges (effects.md 8.9).
#include "effect.glsl"

uniform sampler2D u_soft;  // the canvas box-blurred, straight
uniform float u_levels, u_edge_threshold, u_edge_width, u_edge_opacity;

float luma_at(ivec2 p) {
    return luma709(texel_clamped(p).rgb) * 255.0;
}

void main() {
    vec4 own = here();
    if (own.a <= 0.0) {
        put_through();
        return;
    }
    float steps = clamp(floor(u_levels + 0.5), 2.0, 64.0) - 1.0;
    vec3 flat_ = floor(texelFetch(u_soft, pixel(), 0).rgb * steps + 0.5) / steps;
    int s = int(max(1.0, floor(u_edge_width + 0.5)));
    ivec2 p = pixel();
    float tl = luma_at(p + ivec2(-s, -s)), t = luma_at(p + ivec2(0, -s)), tr = luma_at(p + ivec2(s, -s));
    float l = luma_at(p + ivec2(-s, 0)), r = luma_at(p + ivec2(s, 0));
    float bl = luma_at(p + ivec2(-s, s)), b = luma_at(p + ivec2(0, s)), br = luma_at(p + ivec2(s, s));
    float magnitude = length(vec2(tr + 2.0 * r + br - tl - 2.0 * l - bl, bl + 2.0 * b + br - tl - 2.0 * t - tr));
    float beyond = u_edge_threshold == 0.0 ? 1.0 : (magnitude - u_edge_threshold) / u_edge_threshold;
    if (magnitude > u_edge_threshold) flat_ *= 1.0 - clamp(beyond, 0.0, 1.0) * u_edge_opacity / 100.0;
    put(vec4(flat_, own.a));
}
