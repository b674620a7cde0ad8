// The alpha of a picture, its edge repeated around it. in: u_source, premultiplied. out: alpha in every channel.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

void main() {
    f_color = texel_of(u_source, u_source_region, v_frame).aaaa;
}
