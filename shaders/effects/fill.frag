// Paints the layer's alpha in one colour (effects.md 8.6). On the GPU route the opacity (alpha of u_color) fades
// the layer. On a canvas it mixes the colours.
#include "effect.glsl"

uniform vec4 u_color;
uniform float u_opacity;

void main() {
#ifdef BAKED
    vec4 under = texelFetch(u_source, pixel(), 0);
    vec4 over = as_bytes(vec4(u_color.rgb, 1.0) * clamp(u_color.a * u_opacity / 100.0, 0.0, 1.0));
    f_color = vec4(rounded_up(over * under.a + under * (1.0 - over.a)).rgb, under.a);
#else
    float a = here().a * u_color.a;
    put(vec4(srgb_to_linear(u_color.rgb) * a, a));
#endif
}
