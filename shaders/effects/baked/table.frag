// Maps each straight channel by a table of 256 entries.
#include "canvas.glsl"

uniform sampler2D u_table;

float entry(float v, int channel) {
    return texelFetch(u_table, ivec2(int(v * 255.0 + 0.5), 0), 0)[channel];
}

void main() {
    vec4 c = here();
    put(vec4(entry(c.r, 0), entry(c.g, 1), entry(c.b, 2), c.a));
}
