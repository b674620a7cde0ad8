// Straight colours through an affine map, clamped.
#include "canvas.glsl"

uniform mat3 u_matrix;
uniform vec3 u_offset;

void main() {
    vec4 c = here();
    put(vec4(u_matrix * c.rgb + u_offset, c.a));
}
