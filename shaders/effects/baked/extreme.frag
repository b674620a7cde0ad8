// Largest or smallest value of each channel along one axis. Outside the canvas the edge repeats, or counts as 0.
// One pass of a separable square window (effects.md 8.10). Straight values. Other channels do not change.
#include "effect.glsl"

uniform ivec2 u_axis;
uniform int u_margin;       // px
uniform bool u_largest;
uniform bool u_zero_outside;
uniform vec4 u_channels;   // 1 for channels that change

void main() {
    vec4 own = here(), found = own;
    for (int i = -u_margin; i <= u_margin; i++) {
        ivec2 p = pixel() + i * u_axis;
        vec4 c = u_zero_outside ? texel(p) : texel_clamped(p);
        found = u_largest ? max(found, c) : min(found, c);
    }
    put(mix(own, found, u_channels));
}
