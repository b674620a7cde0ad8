// A picture at half its size: the mean of two by two pixels. in: u_source, premultiplied. out: the same; with ALPHA its alpha in every channel.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

void main() {
    f_color = sample_of(u_source, u_source_region, 2.0 * v_frame);
#ifdef ALPHA
    f_color = f_color.aaaa;
#endif
}
