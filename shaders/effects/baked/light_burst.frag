// Streaks of light towards a point, screened onto the picture (effects.md 8.6).
#include "effect.glsl"
#include "middle.glsl"

uniform float u_intensity, u_ray_length;  // percent

void main() {
    vec2 q = vec2(pixel());
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (int k = 1; k <= 24; k++) {
        ivec2 p = ivec2(floor(q + (middle() - q) * float(k) / 24.0 * u_ray_length / 100.0 + 0.5));
        if (!on_canvas(p)) continue;
        float weight = 1.0 - float(k) / 25.0;
        vec4 c = texel(p);
        sum += weight * vec4(c.rgb * c.a, c.a);
        weights += weight;
    }
    vec4 own = here(), mean = weights > 0.0 ? sum / weights : vec4(0.0);
    float boost = u_intensity / 100.0 * clamp(luma709(mean.rgb), 0.0, 1.0);
    vec3 light = clamp(mean.rgb * boost, 0.0, 1.0);
    put(vec4(own.rgb + light - own.rgb * light, max(own.a, clamp(mean.a * boost, 0.0, 1.0))));
}
