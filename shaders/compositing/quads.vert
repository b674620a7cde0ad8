// Quads of one kind, one instance each: corners as real geometry, and the inputs of the pixels.
//
// A fragment shader's uniform with the name of an attribute here is read from it (gpu_renderer/opengl/programs.py).
#include "frame.glsl"

in vec4 i_upper;  // frame px: two corners
in vec4 i_lower;  // frame px: the two opposite corners
in mat3 u_to_unit;
in vec3 u_fold;
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
