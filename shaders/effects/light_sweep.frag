// A band of light across the layer, within its alpha (effects.md 8.6). u_color: straight sRGB with the intensity as
// alpha.
#include "chain.glsl"

uniform float u_position;
uniform float u_sweep_width;
uniform float u_angle;
uniform float u_softness;
uniform vec4 u_color;

void main() {
    vec4 box = u_box / u_frame_size.xyxy;
    vec2 dir = direction(u_angle);
    float span = abs(box.z * dir.x) + abs(box.w * dir.y);
    vec2 middle = box.xy + 0.5 * box.zw + dir * (u_position / 100.0 - 0.5) * span;
    float px = 0.5 * (1.0 / u_frame_size.x + 1.0 / u_frame_size.y);
    float half_width = 0.5 * max(0.5, u_sweep_width * u_length_scale) * px;
    float t = clamp(dot(uv() - middle, dir) / (2.0 * half_width) + 0.5, 0.0, 1.0);
    float p = u_color.a * (1.0 - smoothstep(max(0.001, 1.0 - u_softness / 100.0), 1.0, 2.0 * abs(t - 0.5)));
    vec4 c = here();
    put(vec4(c.rgb + srgb_to_linear(u_color.rgb) * p * c.a, c.a));
}
