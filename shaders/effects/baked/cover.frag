// Multiplies the canvas by a coverage of its own size, 8 bits.
#include "canvas.glsl"

uniform sampler2D u_coverage;

void main() {
    f_color = texelFetch(u_source, pixel(), 0) * texture(u_coverage, v_frame / u_canvas_size).r;
}
