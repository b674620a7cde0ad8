// A lamp that shines across the layer in a cone (effects.md 8.2). Positions are in units of the layer height.
#include "chain.glsl"

uniform float u_from_x;
uniform float u_from_y;
uniform float u_to_x;
uniform float u_to_y;
uniform float u_cone_angle;
uniform float u_edge_softness;
uniform float u_reach;
uniform vec4 u_light_color;
uniform float u_intensity;
uniform float u_ambient;
uniform int u_render;  // 1: the light without the layer

void main() {
    // Documents of older versions have defaults that mean "neutral".
    bool old = u_ambient == 15.0 || u_ambient == 55.0;
    float ambient = (old ? 100.0 : u_ambient) / 100.0;
    float intensity = (old && u_intensity == 150.0 ? 100.0 : u_intensity) / 100.0;
    float aspect = u_layer_size.x / u_layer_size.y;
    vec2 q = place() / u_layer_size.y;
    vec2 from = vec2((0.5 + u_from_x / u_layer_size.x) * aspect, u_from_y / u_layer_size.y);
    vec2 to = vec2((0.5 + u_to_x / u_layer_size.x) * aspect, 0.5 + u_to_y / u_layer_size.y);
    float half_cone = radians(u_cone_angle) / 2.0;
    float inner = min(half_cone * (1.0 - u_edge_softness / 100.0), half_cone - 1e-4);
    float cone = 1.0;
    if (from != to && q != from) {
        vec2 ray = q - from, axis = to - from;
        float angle = atan(abs(axis.x * ray.y - axis.y * ray.x), dot(axis, ray));
        cone = 1.0 - smoothstep(inner, half_cone, angle);
    }
    float radius = max(0.01, u_reach / 100.0);
    float fall = 1.0 - smoothstep(0.65 * radius, radius, length(q - from));
    float amount = max(ambient, ambient + cone * fall * intensity);
    vec4 c = here();
    put(vec4((u_render == 1 ? vec3(c.a) : c.rgb) * srgb_to_linear(u_light_color.rgb) * amount, c.a));
}
