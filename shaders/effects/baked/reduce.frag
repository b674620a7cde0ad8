// A picture at the target's smaller size, bilinear, mixed with its next mip level (u_smaller) by u_between, 0 to 1.
// Halves of the 8 bits are rounded up, as browsers do. in and out: premultiplied sRGB.
#include "frame.glsl"
#include "texels.glsl"

uniform sampler2D u_source;
uniform sampler2D u_smaller;
uniform float u_between;
out vec4 f_color;

void main() {
    vec2 uv = within(u_region, v_frame);
    vec4 mean = mix(between_texels(u_source, uv), between_texels(u_smaller, uv), u_between);
    f_color = floor(mean * 255.0 + 0.5 + 1.0 / 1024.0) / 255.0;
}
