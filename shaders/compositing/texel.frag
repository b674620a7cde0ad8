// Writes the point, 0..1, at which the quad shader samples a texture for each pixel
// (gpu_renderer/backends/cpu/resampling.py).
//
// u_to_unit, u_crop: as in quad.frag. out: x, y.
#include "frame.glsl"
#include "plane.glsl"

out vec4 o_color;

uniform vec4 u_crop;

void main() {
    o_color = vec4(u_crop.xy + plane(v_frame) * u_crop.zw, 0.0, 1.0);
}
