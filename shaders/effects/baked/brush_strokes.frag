// Smears the picture in short strokes, each cell in its own direction (effects.md 8.9).
#include "effect.glsl"
#include "hash.glsl"

uniform float u_stroke_angle;                 // degrees
uniform float u_stroke_length, u_cell_size;   // px
uniform float u_randomness, u_density;        // percent

void main() {
    float cell_size = max(1.0, floor(u_cell_size + 0.5));
    ivec2 cell = ivec2(quotient(vec2(pixel()), vec2(cell_size)));
    float angle = u_stroke_angle + (2.0 * h2(cell.x, cell.y) - 1.0) * u_randomness / 100.0 * 180.0;
    float length_ = clamp(floor(u_stroke_length + 0.5), 1.0, 32.0);
    int margin = int(max(1.0, floor(length_ * (0.4 + 0.6 * h2(cell.y, cell.x)) + 0.5)));
    vec2 dir = direction(angle);
    vec4 sum = vec4(0.0);
    for (int k = -margin; k <= margin; k++) {
        vec4 c = texel_clamped(ivec2(floor(vec2(pixel()) + dir * float(k) + 0.5)));
        sum += vec4(c.rgb * c.a, c.a);
    }
    vec4 stroke = vec4(sum.a > 0.0 ? sum.rgb / sum.a : vec3(0.0), sum.a / float(2 * margin + 1));
    put(mix(here(), stroke, u_density / 100.0));
}
