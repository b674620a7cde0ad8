// Bends the picture around a hinge line (effects.md 8.8). Positions are in units of the layer height.
#include "chain.glsl"
#include "around.glsl"
#include "arcsine.glsl"

uniform float u_amount;
uniform int u_style;  // 0 Marilyn, 1 sharp, 2 circular
uniform float u_top_x;
uniform float u_top_y;
uniform float u_base_x;
uniform float u_base_y;
uniform int u_outside;  // 0: what is beyond the base turns with the hinge

float profile(float w) {
    if (u_style == 0) return 0.5 - sin(arcsine(1.0 - 2.0 * w) / 3.0);
    return u_style == 1 ? w : 2.0 / PI * arcsine(w);
}

void main() {
    float theta = radians(abs(u_amount)), side = u_amount < 0.0 ? -1.0 : 1.0;
    if (theta < 1e-6) {
        put(sampled(place()));
        return;
    }
    vec2 size = u_layer_size;
    float aspect = size.x / size.y;
    vec2 top = vec2((0.5 + u_top_x / size.x) * aspect, u_top_y / size.y);
    vec2 base = vec2((0.5 + u_base_x / size.x) * aspect, 1.0 + u_base_y / size.y);
    float len = max(1e-6, distance(base, top)), radius = len / theta;
    vec2 d = (base - top) / len, n = vec2(-d.y, d.x), v = place() / size.y - top;
    float a = dot(v, d), b = side * dot(v, n), w = angle_of(vec2(radius - b, a)) / theta, along = a, across = b;
    if (w >= 0.0 && w <= 1.0) {
        along = len * profile(w);
        across = radius - length(vec2(a, radius - b));
    } else if (w > 1.0 && u_outside == 0) {
        vec2 e = vec2(a, b) - vec2(radius * sin(theta), radius - radius * cos(theta));
        along = len + e.x * cos(theta) + e.y * sin(theta);
        across = -e.x * sin(theta) + e.y * cos(theta);
    }
    put(sampled((top + d * along + n * side * across) * size.y));
}
