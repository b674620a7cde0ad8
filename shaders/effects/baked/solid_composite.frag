// Puts a solid colour behind the layer, blended with it (effects.md 8.10).
#include "effect.glsl"

uniform vec4 u_solid_color;  // straight sRGB
uniform float u_source_opacity, u_solid_opacity;  // percent
uniform float u_composite_mode;  // 0 source, 1 multiply, 2 screen, 3 add

void main() {
    vec4 c = here();
    vec3 solid = u_solid_color.rgb;
    float over = c.a * u_source_opacity / 100.0, under = u_solid_opacity / 100.0;
    int mode = int(floor(u_composite_mode + 0.5));
    vec3 blended = mode == 1 ? c.rgb * solid
        : mode == 2 ? c.rgb + solid - c.rgb * solid
        : mode == 3 ? c.rgb + solid
        : c.rgb;
    put(vec4(solid * under + (blended - solid * under) * over, over + under - over * under));
}
