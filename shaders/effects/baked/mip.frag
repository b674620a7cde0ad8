// Next mip level of an 8-bit picture, as browsers make it: means of 2 x 2 px, or weights 1 2 1 along an odd side,
// rounded down.
// COLUMNS, ROWS: texels across and down for each texel, 1 to 3. in and out: premultiplied sRGB.
#include "frame.glsl"

uniform sampler2D u_source;
out vec4 f_color;

vec4 across(ivec2 at) {
#if COLUMNS == 1
    return texelFetch(u_source, at, 0);
#else
    vec4 first = texelFetch(u_source, at, 0), second = texelFetch(u_source, at + ivec2(1, 0), 0);
#if COLUMNS == 2
    return (first + second) / 2.0;
#else
    return (first + 2.0 * second + texelFetch(u_source, at + ivec2(2, 0), 0)) / 4.0;
#endif
#endif
}

void main() {
    ivec2 at = 2 * ivec2(v_frame);
    vec4 mean = across(at);
#if ROWS == 2
    mean = (mean + across(at + ivec2(0, 1))) / 2.0;
#elif ROWS == 3
    mean = (mean + 2.0 * across(at + ivec2(0, 1)) + across(at + ivec2(0, 2))) / 4.0;
#endif
    f_color = floor(mean * 255.0 + 1.0 / 64.0) / 255.0;
}
