// The picture while the strobe is on: a colour, the inverse, or nothing (effects.md 8.9).
#include "effect.glsl"

uniform float u_strobe_operation;  // 0 colour, 1 inverse, 2 transparency
uniform vec4 u_strobe_color;  // straight sRGB
uniform float u_intensity;    // percent

void main() {
    vec4 c = here();
    int operation = int(floor(u_strobe_operation + 0.5));
    float share = u_intensity / 100.0;
    if (operation == 2) put(vec4(c.rgb, c.a * (1.0 - share)));
    else put_color(c, mix(c.rgb, operation == 1 ? 1.0 - c.rgb : u_strobe_color.rgb, share));
}
