// A bevel over the canvas: u_bands (red = light, green = shade; it can be smaller) within u_shape. Light adds, shade
// multiplies (effects.md 8.2).
#include "canvas.glsl"
#include "composite.glsl"

uniform sampler2D u_bands;
uniform sampler2D u_shape;
uniform vec4 u_highlight_color;
uniform float u_highlight_opacity;
uniform vec4 u_shadow_color;
uniform float u_shadow_opacity;

void main() {
    vec2 bands = texture(u_bands, v_frame / u_canvas_size).rg;
    if (textureSize(u_bands, 0) != textureSize(u_source, 0)) bands *= texelFetch(u_shape, pixel(), 0).a;
    vec4 light = vec4(u_highlight_color.rgb, 1.0) * bands.r * clamp(u_highlight_opacity / 100.0, 0.0, 1.0);
    vec4 shade = vec4(u_shadow_color.rgb, 1.0) * bands.g * clamp(u_shadow_opacity / 100.0, 0.0, 1.0);
    f_color = composited(composited(texelFetch(u_source, pixel(), 0), light, LIGHTER), shade, MULTIPLY);
}
