// Flying square pieces of a canvas, an instance each: a later piece covers earlier ones.
//
// An attribute here is a uniform of the fragment shader (gpu_renderer/opengl/programs.py).
#include "frame.glsl"

in vec4 u_piece;  // canvas px: original centre, and current centre
in vec2 u_turn;   // cosine and sine of its rotation
uniform float u_cell;

void main() {
    vec2 side = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    vec2 corner = u_piece.zw + side * (0.71 * u_cell + 1.0);
    gl_Position = vec4(2.0 * (corner - u_region.xy) / u_region.zw - 1.0, 0.0, 1.0);
}
