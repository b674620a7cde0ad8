// Light or shade in one colour from a blurred silhouette (effects.md 8.2), behind what light there is, at a fraction of the
// frame's size. in: u_near, the silhouette's alpha blurred; u_color: straight sRGB, its strength as alpha; u_offset, frame px.
// u_known: left, top, right and bottom of where the silhouette is known, frame px; beyond it there is none.
// FAR: u_far, blurred wider, is screened under it. FRONT: u_light lies in front. out: linear premultiplied.
#include "frame.glsl"
#include "color.glsl"
#include "light.glsl"

uniform sampler2D u_near;
uniform vec4 u_near_region;
uniform float u_near_share;  // texels a frame px
uniform sampler2D u_far;
uniform vec4 u_far_region;
uniform float u_far_share;
uniform float u_cell;  // frame px a pixel of what is drawn
uniform vec2 u_offset;
uniform vec4 u_color;
uniform vec4 u_known;
out vec4 f_color;

vec4 silhouette(float a) {
    return vec4(srgb_to_linear(u_color.rgb), 1.0) * (a < 1.0 / 255.0 ? 0.0 : a * u_color.a);
}

void main() {
    vec2 frame = v_frame * u_cell;
    vec2 from = frame - u_offset;
    vec4 light = silhouette(sample_of(u_near, u_near_region, from * u_near_share).a);
#ifdef FAR
    light += 0.4 * silhouette(sample_of(u_far, u_far_region, from * u_far_share).a) * (1.0 - light);
#endif
    if (any(lessThan(from, u_known.xy)) || any(greaterThan(from, u_known.zw))) light = vec4(0.0);
#ifdef FRONT
    vec4 front = resampled(light_at(frame));
    light = front + light * (1.0 - front.a);
#endif
    f_color = light;
}
