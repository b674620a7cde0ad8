// One pass of a box mean over the values inside the canvas (effects.md 8.1, the field of vector-blur and glass).
#include "frame.glsl"

uniform sampler2D u_source;
uniform ivec2 u_axis;
uniform int u_radius;  // px
out vec4 f_color;

void main() {
    ivec2 size = textureSize(u_source, 0), here = ivec2(v_frame);
    float sum = 0.0, count = 0.0;
    for (int i = -u_radius; i <= u_radius; i++) {
        ivec2 p = here + i * u_axis;
        if (any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, size))) continue;
        sum += texelFetch(u_source, p, 0).r;
        count++;
    }
    f_color = vec4(sum / count);
}
