// Luma times alpha of an encoded premultiplied picture, in all four channels.
#include "frame.glsl"
#include "formulas.glsl"

uniform sampler2D u_source;
out vec4 f_color;

void main() {
    f_color = vec4(luma709(texelFetch(u_source, ivec2(v_frame), 0).rgb));
}
