// Turns the picture over like a page (effects.md 8.8).
#include "effect.glsl"

uniform float u_amount, u_back_opacity, u_shading;  // percent
uniform float u_angle;        // degrees
uniform float u_curl_radius;  // px

void main() {
    vec2 n = direction(u_angle), q = place();
    float span = dot(extent(), abs(n)), radius = max(1.0, u_curl_radius);
    float fold = (1.0 - u_amount / 100.0) * span - 0.5 * (extent().x * n.x + extent().y * n.y);
    float d = dot(q - center(), n) - fold;
    if (d < 0.0) {
        put_through();
    } else if (d > PI * radius) {
        put_erased();
    } else {
        float turn = d / radius, back = u_back_opacity / 100.0;
        vec4 c = sampled(q - n * (d + radius * sin(turn)));
        float shade = clamp(1.0 - u_shading / 100.0 * (1.0 - cos(turn)), 0.0, 1.0) * (0.35 + 0.65 * back);
        put(vec4(c.rgb * shade, c.a * back));
    }
}
