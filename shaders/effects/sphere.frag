// Wraps the frame around a ball (effects.md 8.8).
#include "chain.glsl"
#include "around.glsl"
#include "arcsine.glsl"

uniform float u_radius;
uniform float u_shading;
uniform vec4 u_light_color;
uniform float u_rotate_x;
uniform float u_rotate_y;
uniform float u_rotate_z;

void main() {
    float aspect = u_layer_size.x / u_layer_size.y;
    vec2 p = 2.0 * (place() / u_layer_size - 0.5) * vec2(max(aspect, 1.0), max(1.0 / aspect, 1.0)) / (max(1e-3, u_radius) / 100.0);
    p = turned(p, -radians(u_rotate_z));
    float square = dot(p, p);
    if (square > 1.0) {
        put_erased();
        return;
    }
    float z = sqrt(1.0 - square);
    vec2 tilted = turned(vec2(p.y, z), -radians(u_rotate_x));
    vec2 spun = turned(vec2(tilted.y, p.x), radians(u_rotate_y) * -1.0);
    float x = spun.y, depth = spun.x;
    float s = fract(0.5 + angle_of(vec2(depth, x)) / (2.0 * PI)), t = clamp(0.5 - arcsine(clamp(tilted.x, -1.0, 1.0)) / PI, 0.0, 1.0);
    vec4 c = frame_at(vec2(s, t) * u_frame_size);
    put(vec4(c.rgb * srgb_to_linear(u_light_color.rgb) * mix(1.0, z, u_shading / 100.0), c.a));
}
