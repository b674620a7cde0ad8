// Draws u_paint, encoded premultiplied, over the canvas: 0 source-over, 1 lighter, 2 screen, 3 multiply, 4 source-
// atop (effects.md 4.3).
#include "canvas.glsl"
#include "composite.glsl"

uniform sampler2D u_paint;
uniform int u_composite;
uniform float u_opacity;

void main() {
    f_color = composited(texelFetch(u_source, pixel(), 0), texelFetch(u_paint, pixel(), 0) * u_opacity, u_composite);
}
