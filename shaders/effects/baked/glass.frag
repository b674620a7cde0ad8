// The picture behind uneven glass, whose height is a smoothed luma (effects.md 8.9).
#include "effect.glsl"

uniform sampler2D u_field;  // smoothed luma times alpha, 0..1
uniform float u_height;
uniform float u_displacement;                // px
uniform float u_light_angle;                 // degrees
uniform float u_light_intensity, u_shininess;  // percent

float field(ivec2 p) {
    return 255.0 * texelFetch(u_field, clamp(p, ivec2(0), ivec2(u_canvas_size) - 1), 0).r;
}

void main() {
    ivec2 p = pixel(), x = ivec2(1, 0), y = ivec2(0, 1);
    // Actual distance of the two samples: 1 in the first and last column or row.
    ivec2 last = ivec2(u_canvas_size) - 1;
    vec2 apart = max(vec2(1.0), vec2(min(p + 1, last) - max(p - 1, ivec2(0))));
    vec2 slope = vec2(field(p + x) - field(p - x), field(p + y) - field(p - y)) / apart * u_height / 100.0;
    float intensity = u_light_intensity / 100.0;
    float facing = -dot(slope, vec2(cos(radians(u_light_angle)), -sin(radians(u_light_angle))));
    float spark = clamp(0.02 * facing, 0.0, 1.0);
    vec4 c = sampled(place() + slope * u_displacement);
    put(vec4(c.rgb * (1.0 + 0.04 * intensity * facing) + u_shininess / 100.0 * intensity * spark * spark, c.a));
}
