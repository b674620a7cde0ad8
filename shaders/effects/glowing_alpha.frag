// Alpha of a picture over its glow, at a fraction of the frame's size. in: u_source, the picture's alpha; u_glow.
// out: alpha in every channel.
#include "frame.glsl"
#include "color.glsl"
#include "glow.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform float u_cell;  // frame px a pixel
out vec4 f_color;

void main() {
    float a = texel_of(u_source, u_source_region, v_frame).a;
    vec2 frame = v_frame * u_cell;
    float glow = resampled(glow_at(frame)).a;
    f_color = vec4(a + glow * (1.0 - a));
}
