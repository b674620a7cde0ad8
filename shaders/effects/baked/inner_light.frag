// Inner shadow and inner glow: u_soft (the blurred, displaced outside of the silhouette) in one colour within u_shape
// (effects.md 8.2).
#include "canvas.glsl"
#include "composite.glsl"

uniform sampler2D u_soft;
uniform vec4 u_soft_region;
uniform sampler2D u_shape;
uniform vec2 u_offset;
uniform vec4 u_color;
uniform float u_opacity;
uniform int u_composite;

void main() {
    float a = texture(u_soft, within(u_soft_region, v_frame - u_offset)).a;
    vec4 light = as_bytes(vec4(u_color.rgb, 1.0) * (u_color.a * a)) * texelFetch(u_shape, pixel(), 0).a;
    light = rounded_up(as_bytes(light) * to_8_bits(u_opacity));
    f_color = composited(texelFetch(u_source, pixel(), 0), light, u_composite);
}
