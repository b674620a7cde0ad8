// A linear gradient over the layer's alpha (effects.md 8.6). On the GPU route the colours' sRGB numbers count as
// linear light, and the axis is measured in fractions of the frame.
#include "effect.glsl"

uniform float u_blend;
uniform vec4 u_color_a;
uniform vec4 u_color_b;
uniform float u_angle;

#ifdef BAKED
void main() {
    vec2 dir = direction(u_angle);
    float half_length = 0.5 * (abs(dir.x) * extent().x + abs(dir.y) * extent().y);
    float t = clamp(dot(place() - center(), dir) / (2.0 * half_length) + 0.5, 0.0, 1.0);
    vec4 under = texelFetch(u_source, pixel(), 0), tone = mix(u_color_a, u_color_b, t);
    float alpha = tone.a * clamp(u_blend / 100.0, 0.0, 1.0);
    vec4 over = dithered(vec4(tone.rgb, 1.0) * alpha);
    f_color = vec4(over.rgb * under.a + under.rgb * (1.0 - alpha), under.a);
}
#else
// Position of a frame pixel between the colours, 0..1: u_start, plus u_slope per px.
uniform vec2 u_slope;
uniform float u_start;

void main() {
    float t = clamp(dot(v_frame, u_slope) + u_start, 0.0, 1.0);
    vec4 c = straight(here()), tone = mix(u_color_a, u_color_b, t);
    float share = u_blend * 0.01 * tone.a;
    EXACT vec3 mixed = c.rgb + share * (tone.rgb - c.rgb);
    put(premultiplied(vec4(mixed, c.a)));
}
#endif
