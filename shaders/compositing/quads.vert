// Quads of one kind, an instance each: its corners as real geometry, and what its pixels are made of.
//
// A fragment shader's uniform that is an attribute here is handed over, see gpu_renderer/opengl/programs.py.
#include "frame.glsl"

in vec4 i_upper;  // frame px: two corners
in vec4 i_lower;  // and the two opposite
in mat3 u_to_unit;
in float u_opacity;
in vec4 u_color;
in vec4 u_crop;
in vec2 u_size;
in float u_radius;
in float u_hard;

void main() {
    vec4 side = gl_VertexID < 2 ? i_upper : i_lower;
    vec2 corner = (gl_VertexID & 1) == 0 ? side.xy : side.zw;
    gl_Position = vec4(2.0 * (corner - u_region.xy) / u_region.zw - 1.0, 0.0, 1.0);
}
