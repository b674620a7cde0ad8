// A silhouette of the blurred picture in one colour, displaced, and the picture over it (effects.md 8.2). u_blurred:
// the picture blurred; u_color: straight sRGB with the opacity as alpha; u_offset: px, y down.
#include "chain.glsl"

uniform sampler2D u_blurred;
uniform vec4 u_blurred_region;
uniform vec4 u_color;
uniform vec2 u_offset;

void main() {
    float a = straight(sample_of(u_blurred, u_blurred_region, v_frame - u_offset)).a * u_color.a;
    vec4 shadow = vec4(srgb_to_linear(u_color.rgb) * a, a), top = premultiplied(straight(here()));
    put(top + shadow * (1.0 - top.a));
}
