// Both planes of NV12 in one pass, so that each pixel is fetched once. A texel is four columns of two rows of the
// frame.
// in: u_source, the finished frame, display-encoded, opaque, 8 bits. Beyond its edge the last column or row repeats.
// out: BT.709 limited range code values / 255. Y of the upper and of the lower row, four neighbours to a texel. Two
// pairs Cb, Cr, at H.264's default position: on the even columns (weights 1 2 1 across), between the rows.
#include "frame.glsl"
#include "bt709.glsl"

uniform sampler2D u_source;
layout(location = 0) out vec4 o_upper;
layout(location = 1) out vec4 o_lower;
layout(location = 2) out vec4 o_chroma;

vec3 pixel(int x, int y) {
    return floor(texelFetch(u_source, ivec2(x, y), 0).rgb * 255.0 + 0.5);
}

void main() {
    ivec2 last = textureSize(u_source, 0) - 1, at = ivec2(v_frame) * ivec2(4, 2);
    int x0 = min(at.x, last.x), x1 = min(at.x + 1, last.x), x2 = min(at.x + 2, last.x), x3 = min(at.x + 3, last.x);
    int y0 = at.y, y1 = min(at.y + 1, last.y), before = clamp(at.x - 1, 0, last.x);
    vec3 a0 = pixel(x0, y0), a1 = pixel(x1, y0), a2 = pixel(x2, y0), a3 = pixel(x3, y0);
    vec3 b0 = pixel(x0, y1), b1 = pixel(x1, y1), b2 = pixel(x2, y1), b3 = pixel(x3, y1);
    o_upper = vec4(luma_code(a0), luma_code(a1), luma_code(a2), luma_code(a3)) / 255.0;
    o_lower = vec4(luma_code(b0), luma_code(b1), luma_code(b2), luma_code(b3)) / 255.0;
    vec3 shared_column = a1 + b1;
    vec3 left = pixel(before, y0) + pixel(before, y1) + 2.0 * (a0 + b0) + shared_column;
    vec3 right = shared_column + 2.0 * (a2 + b2) + (a3 + b3);
    o_chroma = vec4(chroma_code(left), chroma_code(right)) / 255.0;
}
