// Rounds numbers like a store into a target (include/stored.glsl). A probe compares the result with the store itself.
#include "frame.glsl"
#include "stored.glsl"

uniform sampler2D u_numbers;
uniform vec4 u_numbers_region;
out vec4 f_color;

void main() {
    f_color = stored(texel_of(u_numbers, u_numbers_region, v_frame));
}
