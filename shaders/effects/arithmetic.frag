// Combines each channel with a constant, in straight linear light (effects.md 8.10).
#include "chain.glsl"

uniform int u_operator;  // 0 to 10, in the order of the cases below
uniform float u_red;
uniform float u_green;
uniform float u_blue;
uniform bool u_clip;

float combined(float c, float v) {
    int a = int(floor(clamp(c, 0.0, 1.0) * 255.0 + 0.5)), b = int(floor(clamp(v, 0.0, 1.0) * 255.0 + 0.5));
    switch (u_operator) {
        case 0: return c + v;
        case 1: return c - v;
        case 2: return c * v;
        case 3: return abs(c - v);
        case 4: return max(c, v);
        case 5: return min(c, v);
        case 6: return c > v ? 0.0 : c;
        case 7: return c < v ? 0.0 : c;
        case 8: return float(a & b) / 255.0;  // and
        case 9: return float(a | b) / 255.0;  // or
        case 10: return float(a ^ b) / 255.0;  // exclusive or
        default: return c;
    }
}

void main() {
    vec4 c = straight(here());
    vec3 v = vec3(u_red, u_green, u_blue) / 255.0;
    vec3 rgb = vec3(combined(c.r, v.r), combined(c.g, v.g), combined(c.b, v.b));
    put(premultiplied(vec4(u_clip ? clamp(rgb, 0.0, 1.0) : rgb, c.a)));
}
