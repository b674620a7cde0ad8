// Stores premultiplied floats, u_marks. Pixels without colour keep that of the canvas.
#include "canvas.glsl"

uniform sampler2D u_marks;

void main() {
    vec4 m = texelFetch(u_marks, pixel(), 0);
    put(m.a > 0.0 ? vec4(m.rgb / m.a, m.a) : vec4(here().rgb, 0.0));
}
