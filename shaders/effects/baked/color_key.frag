// Keys out a colour with a soft edge (effects.md 8.10).
#include "effect.glsl"

uniform vec4 u_key_color;  // straight sRGB
uniform float u_tolerance, u_edge_softness;  // percent of the largest distance
const float LARGEST = 441.67;  // from black to white in levels: 255 sqrt(3), as the format rounds it

void main() {
    vec4 c = here();
    float off = distance(c.rgb, u_key_color.rgb) * 255.0 / LARGEST, at = u_tolerance / 100.0;
    put(vec4(c.rgb, c.a * ramp(at, at + u_edge_softness / 100.0, off)));
}
