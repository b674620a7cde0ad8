// Lights the four edges of the layer's box (effects.md 8.2).
#include "bevel.glsl"

void main() {
    vec2 l = place() / u_layer_size;
    float t = u_thickness / min(u_layer_size.x, u_layer_size.y), d = min(min(l.x, 1.0 - l.x), min(l.y, 1.0 - l.y));
    vec4 c = here();
    if (d > t || t <= 0.0) {
        put(c);
        return;
    }
    vec2 outward = d == l.x ? vec2(-1.0, 0.0) : d == 1.0 - l.x ? vec2(1.0, 0.0) : d == l.y ? vec2(0.0, -1.0) : vec2(0.0, 1.0);
    put(lit(c, dot(outward, direction(u_light_angle)) * (1.0 - d / t) * u_intensity / 100.0));
}
