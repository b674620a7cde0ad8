// Draws u_paint, encoded premultiplied, on the canvas by a composite operation (include/composite.glsl).
#include "canvas.glsl"
#include "composite.glsl"

uniform sampler2D u_paint;
uniform int u_composite;
uniform float u_opacity;

void main() {
    f_color = composited(texelFetch(u_source, pixel(), 0), texelFetch(u_paint, pixel(), 0) * u_opacity, u_composite);
}
