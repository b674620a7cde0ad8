// The CbCr plane of NV12: two neighbouring pairs to a texel (Cb, Cr, Cb, Cr), a quarter of the frame's columns, half its rows.
// in: u_source, the finished frame, display-encoded, opaque, 8 bits. Columns and rows past its edge repeat the last one.
// out: BT.709 limited range code values / 255, sited as H.264 assumes where nothing is said: on the even columns
// (weights 1 2 1 across), between the two rows.
#include "frame.glsl"
#include "bt709.glsl"

uniform sampler2D u_source;
out vec4 o_samples;

vec3 rows(int x, int y, ivec2 last) {
    x = clamp(x, 0, last.x);
    return texelFetch(u_source, ivec2(x, min(y, last.y)), 0).rgb + texelFetch(u_source, ivec2(x, min(y + 1, last.y)), 0).rgb;
}

void main() {
    ivec2 last = textureSize(u_source, 0) - 1;
    int x = int(v_frame.x) * 4, y = int(v_frame.y) * 2;
    vec3 shared_column = rows(x + 1, y, last);
    vec3 left = (rows(x - 1, y, last) + 2.0 * rows(x, y, last) + shared_column) / 8.0;
    vec3 right = (shared_column + 2.0 * rows(x + 2, y, last) + rows(x + 3, y, last)) / 8.0;
    o_samples = stored(vec4(chroma_code(left), chroma_code(right)));
}
