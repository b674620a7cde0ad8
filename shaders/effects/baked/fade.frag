// Fill opacity: all four channels of the canvas times a factor (effects.md 4.4).
#include "canvas.glsl"

uniform float u_opacity;

void main() {
    f_color = texelFetch(u_source, pixel(), 0) * to_8_bits(u_opacity);
}
