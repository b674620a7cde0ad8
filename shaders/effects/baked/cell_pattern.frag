// Cells around scattered points: the distance to the nearest, or the gap to the second (effects.md 8.6).
// u_points: each cell's point in fractions of the cell, from cell (-1, -1) on.
#include "canvas.glsl"

uniform sampler2D u_points;
uniform float u_cell;
uniform float u_contrast;
uniform bool u_membrane;
uniform bool u_invert;

void main() {
    vec2 p = vec2(pixel());
    ivec2 cell = ivec2(quotient(p, vec2(u_cell)));
    float first = 1e9, second = 1e9;
    for (int k = 0; k < 9; k++) {
        ivec2 c = cell + ivec2(k % 3, k / 3) - 1;
        float d = distance(p, (vec2(c) + texelFetch(u_points, c + 1, 0).rg) * u_cell);
        second = min(second, max(d, first));
        first = min(first, d);
    }
    float v = clamp((u_membrane ? second - first : first) / u_cell * max(0.01, u_contrast / 100.0), 0.0, 1.0);
    put_color(here(), vec3(u_invert ? 1.0 - v : v));
}
