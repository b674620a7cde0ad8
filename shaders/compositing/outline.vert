// A convex octagon, or the band between two, as real geometry: a shape's inside and its edge share their vertices, so that
// each pixel belongs to one of them (gpu_renderer/backends/gl/edge_split.py).
//
// PIECE  0 within the inner one, 1 the band between both, 2 within the outer one
#include "frame.glsl"

uniform vec2 u_outline[16];  // frame px, around the shape: outer and inner corners by turns

const int ZIGZAG[8] = int[8](0, 1, 7, 2, 6, 3, 5, 4);  // an octagon as a strip of triangles

void main() {
#if PIECE == 1
    vec2 corner = u_outline[gl_VertexID % 16];
#else
    vec2 corner = u_outline[2 * ZIGZAG[gl_VertexID] + (PIECE == 0 ? 1 : 0)];
#endif
    gl_Position = vec4(2.0 * (corner - u_region.xy) / u_region.zw - 1.0, 0.0, 1.0);
}
