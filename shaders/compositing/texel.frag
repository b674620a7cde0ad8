// Where the quad shader samples a picture for each pixel: a place in its texture, 0..1 (gpu_renderer/backends/cpu/resampling.py).
//
// u_to_unit, u_crop: as in quad.frag. Out: x, y.
#include "frame.glsl"
#include "plane.glsl"

out vec4 o_color;

uniform vec4 u_crop;

void main() {
    o_color = vec4(u_crop.xy + plane(v_frame) * u_crop.zw, 0.0, 1.0);
}
