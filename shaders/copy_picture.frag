// Copies a picture of the frame's size, texel for texel.
// u_source: display-encoded, opaque, 8 bits. Out: the same values.
#include "frame.glsl"

out vec4 o_color;

uniform sampler2D u_source;

void main() {
    o_color = texelFetch(u_source, ivec2(v_frame), 0);
}
