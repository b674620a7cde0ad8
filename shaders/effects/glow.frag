// Two lobes of light in one colour, screened, and the picture over them (effects.md 8.2). u_middle, u_wide: the
// picture blurred; u_color: straight sRGB with the intensity as alpha.
#include "chain.glsl"

uniform sampler2D u_middle;
uniform vec4 u_middle_region;
uniform sampler2D u_wide;
uniform vec4 u_wide_region;
uniform bool u_has_wide;
uniform vec4 u_color;

vec4 silhouette(float a) {
    return vec4(srgb_to_linear(u_color.rgb), 1.0) * (a * u_color.a);
}

void main() {
    vec4 light = vec4(0.0);
    if (u_has_wide) light = silhouette(0.4 * straight(texel_of(u_wide, u_wide_region, v_frame)).a);
    vec4 middle = silhouette(straight(texel_of(u_middle, u_middle_region, v_frame)).a);
    light = middle + light * (1.0 - middle);
    vec4 top = premultiplied(straight(here()));
    put(top + light * (1.0 - top.a));
}
