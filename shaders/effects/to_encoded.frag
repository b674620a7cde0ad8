// Linear premultiplied to encoded premultiplied.
#include "frame.glsl"
#include "color.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

void main() {
    vec4 c = straight(texel_of(u_source, u_source_region, v_frame));
    f_color = premultiplied(vec4(linear_to_srgb(c.rgb), c.a));
}
