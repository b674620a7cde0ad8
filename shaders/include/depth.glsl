// Depth of a plane at each sample, as the reference rounds it (gpu_renderer/display_list/space/rounding.py).
// A matrix is one of the quad's two triangles, in columns: x, y and depth of its farthest corner; change of depth per px
// to the right and upwards, rows of the frame; a, b and c of the quad's diagonal a x + b y + c = 0,
// positive in the first triangle.
// Rows count upwards, as in the reference. Its samples have the depths of places mirrored about the pixel's vertical centre line.
#include "frame.glsl"

uniform mat3 u_depth_one, u_depth_other;

float depth_of(mat3 triangle, vec2 pixel, vec2 at) {
    EXACT float x = (pixel.x - triangle[0].x) + at.x;
    EXACT float y = (pixel.y - triangle[0].y) + at.y;
    EXACT float start = triangle[0].z + y * triangle[1].y;
    EXACT float depth = start + x * triangle[1].x;
    return depth;
}

float sample_depth() {
    vec2 pixel = vec2(floor(v_frame.x), u_depth_one[1].z - 1.0 - floor(v_frame.y));
    vec2 at = (gl_SamplePosition - 0.5) * vec2(-1.0, 1.0);
    vec2 place = pixel + gl_SamplePosition;
    EXACT float side = u_depth_one[2].x * place.x + u_depth_one[2].y * place.y + u_depth_one[2].z;
    return depth_of(side > 0.0 ? u_depth_one : u_depth_other, pixel, at);
}
