// Glow or shadow in one colour from a blurred silhouette (effects.md 8.2), behind the present glow, at a fraction of the
// frame's size. in: u_near, the silhouette's alpha blurred; u_color: straight sRGB, its strength as alpha; u_offset, frame px.
// FAR: u_far, blurred wider, is screened under it. FRONT: u_glow lies in front. out: linear premultiplied.
#include "frame.glsl"
#include "color.glsl"
#include "glow.glsl"

uniform sampler2D u_near;
uniform vec4 u_near_region;
uniform float u_near_share;  // texels a frame px
uniform sampler2D u_far;
uniform vec4 u_far_region;
uniform float u_far_share;
uniform float u_cell;  // frame px a pixel of what is drawn
uniform vec2 u_offset;
uniform vec4 u_color;
out vec4 f_color;

vec4 silhouette(float a) {
    return vec4(srgb_to_linear(u_color.rgb), 1.0) * (a < 1.0 / 255.0 ? 0.0 : a * u_color.a);
}

void main() {
    vec2 frame = v_frame * u_cell;
    vec4 glow = silhouette(sample_of(u_near, u_near_region, (frame - u_offset) * u_near_share).a);
#ifdef FAR
    glow += 0.4 * silhouette(sample_of(u_far, u_far_region, (frame - u_offset) * u_far_share).a) * (1.0 - glow);
#endif
#ifdef FRONT
    vec4 front = resampled(glow_at(frame));
    glow = front + glow * (1.0 - front.a);
#endif
    f_color = glow;
}
