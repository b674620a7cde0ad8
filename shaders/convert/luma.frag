// The Y plane of NV12: four neighbouring samples to a texel, so that the target's rows are the plane's rows.
// in: u_source, the finished frame, display-encoded, opaque, 8 bits. Columns and rows past its edge repeat the last one.
// out: BT.709 limited range code values / 255.
#include "frame.glsl"
#include "bt709.glsl"

uniform sampler2D u_source;
out vec4 o_samples;

float sample_at(ivec2 at, ivec2 last) {
    return luma_code(texelFetch(u_source, min(at, last), 0).rgb);
}

void main() {
    ivec2 last = textureSize(u_source, 0) - 1;
    ivec2 at = ivec2(v_frame) * ivec2(4, 1);
    o_samples = stored(vec4(
        sample_at(at, last), sample_at(at + ivec2(1, 0), last),
        sample_at(at + ivec2(2, 0), last), sample_at(at + ivec2(3, 0), last)));
}
