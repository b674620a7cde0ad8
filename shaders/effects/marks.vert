// Small marks over a canvas, an instance each: a later mark covers earlier ones.
//
// An attribute here is a uniform of the fragment shader (gpu_renderer/opengl/programs.py).
#include "frame.glsl"

in vec4 u_box;   // canvas px: left, top, right and bottom of its pixels
in vec4 u_mark;  // canvas px: its centre and its size; its strength
in vec2 u_under; // stars, canvas px: the pixel whose colour is mixed in
in vec2 u_steps; // streaks: first step, and the one after the last

void main() {
    vec2 corner = mix(u_box.xy, u_box.zw, vec2(gl_VertexID & 1, gl_VertexID >> 1));
    gl_Position = vec4(2.0 * (corner - u_region.xy) / u_region.zw - 1.0, 0.0, 1.0);
}
