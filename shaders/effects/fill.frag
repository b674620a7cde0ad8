// Paints the layer's alpha in one colour (effects.md 8.6). On the GPU route the opacity (alpha of u_color) fades
// the layer. On a canvas it mixes the colours.
#include "effect.glsl"

uniform vec4 u_color;
uniform float u_opacity;

void main() {
    vec4 c = here();
#ifdef BAKED
    put(vec4(mix(c.rgb, u_color.rgb, u_color.a * clamp(u_opacity / 100.0, 0.0, 1.0)), c.a));
#else
    float a = c.a * u_color.a;
    put(vec4(srgb_to_linear(u_color.rgb) * a, a));
#endif
}
