// Mean of the alpha along one axis, with the edge repeated. Colours do not change (effects.md 8.10).
#include "effect.glsl"

uniform ivec2 u_axis;
uniform int u_margin;  // px

void main() {
    float sum = 0.0;
    for (int i = -u_margin; i <= u_margin; i++) sum += texel_clamped(pixel() + i * u_axis).a;
    put(vec4(here().rgb, sum / float(2 * u_margin + 1)));
}
