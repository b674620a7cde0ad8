// A picture stretched over the target's region, bilinear in full precision. in and out: any space.
#include "frame.glsl"
#include "texels.glsl"

uniform sampler2D u_source;
out vec4 f_color;

void main() {
    f_color = between_texels(u_source, within(u_region, v_frame));
}
