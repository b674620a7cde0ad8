// A picture enlarged by u_factor across and down, bilinear. in: u_source, premultiplied. out: the same.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform vec2 u_factor;
out vec4 f_color;

void main() {
    f_color = sample_of(u_source, u_source_region, v_frame / u_factor);
}
