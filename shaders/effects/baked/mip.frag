// The next mip level of a picture of 8 bits as browsers make it: means of 2 x 2 px, of 1 2 1 along an odd side, rounded down.
// in and out: premultiplied sRGB.
#include "frame.glsl"

uniform sampler2D u_source;
out vec4 f_color;

vec4 across(ivec2 at, int taps, int y) {
    if (taps == 1) return texelFetch(u_source, ivec2(0, y), 0);
    vec4 first = texelFetch(u_source, ivec2(at.x, y), 0), second = texelFetch(u_source, ivec2(at.x + 1, y), 0);
    if (taps == 2) return (first + second) / 2.0;
    return (first + 2.0 * second + texelFetch(u_source, ivec2(at.x + 2, y), 0)) / 4.0;
}

int taps(int side) {
    return side == 1 ? 1 : 2 + side % 2;
}

void main() {
    ivec2 size = textureSize(u_source, 0), at = 2 * ivec2(v_frame);
    int columns = taps(size.x), rows = taps(size.y);
    vec4 mean = across(at, columns, rows == 1 ? 0 : at.y);
    if (rows == 2) mean = (mean + across(at, columns, at.y + 1)) / 2.0;
    if (rows == 3) mean = (mean + 2.0 * across(at, columns, at.y + 1) + across(at, columns, at.y + 2)) / 4.0;
    f_color = floor(mean * 255.0 + 1.0 / 64.0) / 255.0;
}
