// A plane's quad as real geometry, for passes with a depth buffer.
// u_to_frame: unit square to frame pixels. Its third row is the depth in composition px, so that w is the distance.
// u_displaced: homogeneous displacement of the corner (1, 1) from where u_to_frame puts it.
// u_subpixels: subpixel steps to which corners are rounded, as in the reference's rasteriser. The content keeps its
// exact place.
// Depth: 0 at 1 px from the eye, 1 at 100000 px (three-d.md 3).
// An attribute here is a uniform of the fragment shader, see gpu_renderer/opengl/programs.py.
#include "frame.glsl"

in mat3 u_to_unit;
in vec3 u_fold;
in float u_opacity;
in vec4 u_color;
in vec4 u_crop;
in vec2 u_size;
in float u_radius;
in float u_hard;
uniform mat3 u_to_frame;
// Planes with equal corners have equal depths in all variants of the program.
invariant gl_Position;
uniform vec2 u_displaced;
uniform float u_subpixels;
const float NEAR = 1.0;
const float FAR = 100000.0;

void main() {
    vec3 p = u_to_frame * vec3(float(gl_VertexID & 1), float(gl_VertexID >> 1), 1.0);
    if (gl_VertexID == 3) p.xy += u_displaced;
    if (p.z >= NEAR) p.xy = floor(p.xy / p.z * u_subpixels + 0.5) / u_subpixels * p.z;
    vec2 within_target = (p.xy - u_region.xy * p.z) / u_region.zw;
#ifdef FLIPPED
    within_target.y = p.z - within_target.y;
#endif
    float depth = FAR / (FAR - NEAR) * (p.z - NEAR);
    gl_Position = vec4(2.0 * within_target - p.z, depth, p.z);
}
