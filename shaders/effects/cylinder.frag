// Wraps the frame around an upright cylinder (effects.md 8.8).
#include "chain.glsl"
#include "around.glsl"
#include "arcsine.glsl"

uniform float u_radius;
uniform float u_shading;
uniform vec4 u_light_color;
uniform float u_rotation;

void main() {
    vec2 l = place() / u_layer_size;
    float x = 2.0 * (l.x - 0.5) / (max(1e-3, u_radius) / 100.0);
    if (abs(x) > 1.0) {
        put_erased();
        return;
    }
    float z = sqrt(1.0 - x * x), s = fract(0.5 + arcsine(x) / PI + radians(u_rotation) / (2.0 * PI));
    vec4 c = frame_at(vec2(s, l.y) * u_frame_size);
    put(vec4(c.rgb * srgb_to_linear(u_light_color.rgb) * mix(1.0, z, u_shading / 100.0), c.a));
}
