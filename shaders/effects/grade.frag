// The colour stage as a pass of its own, for buffers (adjustment layers, precomps). in and out: linear premultiplied.
#include "frame.glsl"
#include "grade.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

void main() {
    vec4 c = straight(texel_of(u_source, u_source_region, v_frame));
    f_color = premultiplied(vec4(graded(c.rgb), c.a));
}
