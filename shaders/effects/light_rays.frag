// Rays of light from a point (effects.md 8.6), on the GPU route. u_rays: angle in radians and length as a share of the longest,
// computed from the seed. A ray is narrower than the spacing, so only the three nearest rays are evaluated.
#include "chain.glsl"
#include "modulo.glsl"

uniform float u_center_x;
uniform float u_center_y;
uniform float u_ray_length;
uniform float u_falloff;
uniform float u_rotation;
uniform float u_composite;  // 0 source-over, otherwise added
uniform vec4 u_color;
uniform vec2 u_rays[128];
uniform int u_count;
uniform float u_arc;

float strength(float share, float opacity) {
    float knee = max(0.001, 1.0 - u_falloff / 100.0);
    return opacity * (share < knee ? mix(1.0, 0.35, share / knee) : 0.35 * (1.0 - share) / max(1e-6, 1.0 - knee));
}

// Light of the three nearest rays at an offset from the lamp. The longest ray has length `longest`.
vec3 rays(vec2 away, float longest, float opacity) {
    float distance_ = length(away), angle = angle_of(away), half_width = 0.35 * u_arc / float(u_count);
    vec3 light = vec3(0.0);
    if (distance_ >= longest) return light;
    float offset = mod(angle - radians(u_rotation) + PI, 2.0 * PI) - PI;
    int first = int(floor((offset + 0.5 * u_arc) / u_arc * float(u_count) + 0.5)) - 1;
    int count = min(3, u_count);
    for (int i = 0; i < count; i++) {
        vec2 ray = u_rays[modulo(first + i, u_count)];
        float d = abs(mod(angle - ray.x + PI, 2.0 * PI) - PI), len = longest * ray.y;
        if (d < half_width && distance_ < len) light[i] = (1.0 - d / half_width) * strength(distance_ / len, opacity);
    }
    return light;
}

void main() {
    vec2 middle = (u_box.xy + 0.5 * u_box.zw + vec2(u_center_x, u_center_y)) / u_frame_size;
    float px = 0.5 * (1.0 / u_frame_size.x + 1.0 / u_frame_size.y);
    vec3 each = rays(uv() - middle, u_ray_length * u_length_scale.x * px, u_color.a);
    float sum = each.x + each.y + each.z;
    vec4 c = here();
    vec3 light = srgb_to_linear(u_color.rgb) * sum;
    if (floor(u_composite + 0.5) == 0.0) {
        put(vec4(light * sum + c.rgb * c.a * (1.0 - sum), sum + c.a * (1.0 - sum)));
        return;
    }
    put(vec4(c.rgb + light, min(1.0, c.a + sum)));
}
