// Replaces a channel by the median of a disc around it where the two differ much (effects.md 8.7).
#include "canvas.glsl"
#include "median.glsl"

uniform float u_radius;
uniform float u_threshold;

int margin() {
    return int(clamp(floor(u_radius + 0.5), 1.0, 8.0));
}

bool counts(ivec2 offset) {
    return offset.x * offset.x + offset.y * offset.y <= margin() * margin();
}

void main() {
    int count = 0;
#ifndef RANKED
    for (int y = -margin(); y <= margin(); y++) {
        for (int x = -margin(); x <= margin(); x++) count += counts(ivec2(x, y)) ? 1 : 0;
    }
#endif
    vec4 c = here();
    if (c.a == 0.0) {
        put_through();
        return;
    }
    vec3 middle = ranked(margin(), float(count >> 1));
    vec3 apart = floor(abs(c.rgb - middle) * 255.0 + 0.5);
    put(vec4(mix(c.rgb, middle, vec3(greaterThan(apart, vec3(u_threshold)))), c.a));
}
