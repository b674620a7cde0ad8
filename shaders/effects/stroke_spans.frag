// Largest alpha of the 2, 4, 8 and 16 px from here to the right, one in each channel. SPANS: number of them.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

float a(int dx) {
    return texel_of(u_source, u_source_region, v_frame + vec2(dx, 0)).a;
}

float most_of_two(int dx) {
    return max(a(dx), a(dx + 1));
}

float most_of_four(int dx) {
    return max(most_of_two(dx), most_of_two(dx + 2));
}

float most_of_eight(int dx) {
    return max(most_of_four(dx), most_of_four(dx + 4));
}

void main() {
    vec4 most = vec4(most_of_two(0));
#if SPANS >= 2
    most.yzw = vec3(max(most.x, most_of_two(2)));
#endif
#if SPANS >= 3
    most.zw = vec2(max(most.y, most_of_four(4)));
#endif
#if SPANS >= 4
    most.w = max(most.z, most_of_eight(8));
#endif
    f_color = most;
}
