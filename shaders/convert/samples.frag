// Converts the samples of a decoded frame, 8-bit 4:2:0 of even size, to opaque encoded pixels: the same bytes as `colour_row` of
// native/src/kernels.c. Chroma lies in the middle of each block of four pixels and is interpolated, in sixteenths.
// u_luma, u_blue, u_red: one channel, each plane at its own size. WEIGHTS: eight uints, as `weights` of geometry/samples.py.
#include "frame.glsl"

out vec4 o_color;

uniform sampler2D u_luma, u_blue, u_red;

const uint weights[8] = uint[8](WEIGHTS);

uint code(sampler2D plane, int x, int y) { return uint(texelFetch(plane, ivec2(x, y), 0).r * 255.0 + 0.5); }

uint sixteenths(sampler2D plane, ivec2 near, ivec2 far) {
    uint beside = 3u * code(plane, near.x, near.y) + code(plane, near.x, far.y);
    return 3u * beside + 3u * code(plane, far.x, near.y) + code(plane, far.x, far.y);
}

// Sums are modulo 2^32 and signed, with 22 fractional bits.
float level(uint sum) { return float(clamp(int(sum), 0, 0x3fffffff) >> 22) / 255.0; }

void main() {
    ivec2 at = ivec2(floor(v_frame)), last = textureSize(u_blue, 0) - 1;
    ivec2 near = at / 2, far = clamp(near + 2 * (at & 1) - 1, ivec2(0), last);
    uint grey = weights[0] * code(u_luma, at.x, at.y), blue = sixteenths(u_blue, near, far), red = sixteenths(u_red, near, far);
    o_color = vec4(
        level(grey + weights[1] * red + weights[5]),
        level(grey + weights[2] * red + weights[3] * blue + weights[6]),
        level(grey + weights[4] * blue + weights[7]),
        1.0
    );
}
