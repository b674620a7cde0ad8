// The lit and the shaded band of a bevel (effects.md 8.2), within u_shape. in: u_source, whose alpha is the height; u_light, the direction
// to the light. out: red = light, green = shade, each 0..1.
#include "frame.glsl"

uniform sampler2D u_source;
uniform sampler2D u_shape;
uniform vec3 u_light;
uniform float u_steepness;
out vec4 f_color;

float height(ivec2 p) {
    return texelFetch(u_source, clamp(p, ivec2(0), textureSize(u_source, 0) - 1), 0).a;
}

void main() {
    ivec2 p = ivec2(v_frame), x = ivec2(1, 0), y = ivec2(0, 1);
    vec2 slope = 0.5 * vec2(height(p + x) - height(p - x), height(p + y) - height(p - y));
    vec2 n = -slope * u_steepness;
    float shade = (dot(n, u_light.xy) + u_light.z) / sqrt(dot(n, n) + 1.0) - u_light.z;
    f_color = vec4(clamp(vec2(shade, -shade), 0.0, 1.0) * texelFetch(u_shape, p, 0).a, 0.0, 1.0);
}
