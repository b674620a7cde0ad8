// Lights the edges of the alpha by its slope (effects.md 8.2).
#include "bevel.glsl"
#include "around.glsl"

void main() {
    float t = u_thickness / min(u_layer_size.x, u_layer_size.y);
    vec2 p = position(), x = vec2(t, 0.0), y = vec2(0.0, t);
    vec2 slope = vec2(buffer_at(p + x).a - buffer_at(p - x).a, buffer_at(p + y).a - buffer_at(p - y).a);
    float m = length(slope);
    vec4 c = here();
    if (m < 1e-4 || c.a == 0.0) {
        put(c);
        return;
    }
    put(lit(c, dot(slope / m, direction(u_light_angle)) * min(m, 1.0) * u_intensity / 100.0));
}
