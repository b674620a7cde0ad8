// Keeps a range of the brightness or of one channel (effects.md 8.10).
#include "effect.glsl"

uniform float u_extract_channel;  // 0 luma, 1 red, 2 green, 3 blue, 4 alpha
uniform float u_black_point, u_white_point, u_black_softness, u_white_softness;  // 0..255
uniform bool u_invert_extract;

void main() {
    vec4 c = here();
    int channel = int(clamp(floor(u_extract_channel + 0.5), 0.0, 4.0));
    float v = 255.0 * (channel == 0 ? luma709(c.rgb) : channel == 4 ? c.a : c[channel - 1]);
    float low = ramp(u_black_point - u_black_softness, u_black_point + u_black_softness, v);
    float high = ramp(u_white_point - u_white_softness, u_white_point + u_white_softness, v);
    float keep = low * (1.0 - high);
    put(vec4(c.rgb, c.a * (u_invert_extract ? 1.0 - keep : keep)));
}
