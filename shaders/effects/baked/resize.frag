// A picture stretched over the target's region, bilinear. in and out: any space.
#include "frame.glsl"

uniform sampler2D u_source;
out vec4 f_color;

void main() {
    f_color = texture(u_source, within(u_region, v_frame));
}
