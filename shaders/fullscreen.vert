// Covers a target with one triangle.
// out: v_frame, the pixel's position in frame pixels (origin top-left, y down; pixel centres at +0.5).
#include "frame.glsl"

out vec2 v_frame;

void main() {
    vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
    v_frame = u_region.xy + corner * u_region.zw;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
