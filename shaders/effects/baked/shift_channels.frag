// Takes each channel from another (effects.md 8.10).
#include "effect.glsl"

uniform float u_take_alpha_from, u_take_red_from, u_take_green_from, u_take_blue_from;

float taken(float from, vec4 c) {
    int source = int(floor(from + 0.5));
    return source <= 0 ? c.a
        : source <= 3 ? c[source - 1]
        : source == 4 ? luma601(c.rgb)
        : source == 5 ? 1.0 : 0.0;
}

void main() {
    vec4 c = here();
    put(vec4(taken(u_take_red_from, c), taken(u_take_green_from, c), taken(u_take_blue_from, c), taken(u_take_alpha_from, c)));
}
