// Hexagons of one colour each, with a darker border (effects.md 8.9).
#include "effect.glsl"

uniform float u_radius;  // px
uniform float u_border;  // percent

void main() {
    float radius = max(2.0, u_radius), rows = sqrt(3.0) * radius, columns = 1.5 * radius;
    vec2 q = vec2(pixel()), nearest = vec2(0.0);
    float best = 1e20;
    int column = int(floor(q.x / columns));
    for (int i = column - 1; i <= column + 2; i++) {
        float shift = (i & 1) != 0 ? 0.5 * rows : 0.0;
        float row = ceil((q.y - shift) / rows - 0.5);  // the upper one of two at the same distance
        vec2 middle = vec2(float(i) * columns, row * rows + shift);
        float d = distance(q, middle);
        if (d < best) {
            best = d;
            nearest = middle;
        }
    }
    float border = u_border / 100.0, soft = max(1.0, 0.12 * radius);
    vec4 c = texel_clamped(ivec2(floor(nearest + 0.5)));
    float edge = clamp((best - (0.5 * rows - soft - 0.3 * border * radius)) / soft, 0.0, 1.0);
    put(vec4(c.rgb * (1.0 - border * edge), c.a));
}
