// Two displaced, blurred copies of the silhouette: their difference or, inverted, their overlap, in one colour within
// it (effects.md 8.2).
// u_first, u_second: displacement of each copy, px
#include "canvas.glsl"
#include "composite.glsl"

uniform sampler2D u_soft;
uniform vec4 u_soft_region;
uniform sampler2D u_shape;
uniform vec2 u_first;
uniform vec2 u_second;
uniform vec4 u_color;
uniform float u_opacity;
uniform bool u_invert;

void main() {
    float a = texture(u_soft, within(u_soft_region, v_frame - u_first)).a;
    float b = texture(u_soft, within(u_soft_region, v_frame - u_second)).a;
    float p = a * (1.0 - b), q = b * (1.0 - a), band = u_invert ? a * b : p + q - p * q;
    float alpha = band * texelFetch(u_shape, pixel(), 0).a * clamp(u_opacity / 100.0, 0.0, 1.0) * u_color.a;
    f_color = composited(texelFetch(u_source, pixel(), 0), vec4(u_color.rgb, 1.0) * alpha, SOURCE_OVER);
}
