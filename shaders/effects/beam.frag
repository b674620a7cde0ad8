// A beam of light from one point to another, in fractions of the frame (effects.md 8.6).
#include "chain.glsl"

uniform float u_length;
uniform float u_start_x;
uniform float u_start_y;
uniform float u_end_x;
uniform float u_end_y;
uniform float u_thickness;
uniform float u_softness;
uniform vec4 u_color;

void main() {
    vec4 box = u_box / u_frame_size.xyxy;
    vec2 p = box.xy + vec2(u_start_x, u_start_y) / 100.0 * box.zw, q = box.xy + vec2(u_end_x, u_end_y) / 100.0 * box.zw;
    float len = u_length / 100.0;
    vec2 head = p + (q - p) * len, tail = p + (q - p) * max(0.0, len - 0.35), along = head - tail;
    float t = clamp(dot(uv() - tail, along) / max(dot(along, along), 1e-12), 0.0, 1.0);
    float d = length(uv() - tail - t * along);
    float px = 0.5 * (1.0 / u_frame_size.x + 1.0 / u_frame_size.y);
    float core = 0.5 * max(0.5, u_thickness * u_length_scale) * px, soft = core * (1.0 + 3.0 * u_softness / 100.0);
    float m = t * (0.35 * (1.0 - smoothstep(soft - px, soft + px, d)) + 1.0 - smoothstep(core - px, core + px, d));
    vec4 c = here();
    put(vec4(c.rgb + srgb_to_linear(u_color.rgb) * m, min(1.0, c.a + m)));
}
