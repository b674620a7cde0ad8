// Bends the four edges as curves: a Coons patch, inverted by Newton's method (format/effects.md 8.8).
#include "effect.glsl"

uniform vec2 u_points[12];  // px, clockwise from the top-left corner, three an edge

vec2 edge(int first, float t) {
    vec2 a = u_points[first], b = u_points[first + 1], c = u_points[first + 2], d = u_points[(first + 3) % 12];
    float s = 1.0 - t;
    return s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
}

vec2 edge_slope(int first, float t) {
    vec2 a = u_points[first], b = u_points[first + 1], c = u_points[first + 2], d = u_points[(first + 3) % 12];
    float s = 1.0 - t;
    return 3.0 * (s * s * (b - a) + 2.0 * s * t * (c - b) + t * t * (d - c));
}

vec2 patch_at(vec2 p) {
    vec2 corners = mix(mix(u_points[0], u_points[3], p.x), mix(u_points[9], u_points[6], p.x), p.y);
    return (1.0 - p.y) * edge(0, p.x) + p.y * edge(6, 1.0 - p.x)
        + (1.0 - p.x) * edge(9, 1.0 - p.y) + p.x * edge(3, p.y) - corners;
}

mat2 patch_slopes(vec2 p) {
    vec2 corners_u = mix(u_points[3] - u_points[0], u_points[6] - u_points[9], p.y);
    vec2 corners_v = mix(u_points[9] - u_points[0], u_points[6] - u_points[3], p.x);
    vec2 along_u = (1.0 - p.y) * edge_slope(0, p.x) - p.y * edge_slope(6, 1.0 - p.x)
        - edge(9, 1.0 - p.y) + edge(3, p.y) - corners_u;
    vec2 along_v = -edge(0, p.x) + edge(6, 1.0 - p.x)
        - (1.0 - p.x) * edge_slope(9, 1.0 - p.y) + p.x * edge_slope(3, p.y) - corners_v;
    return mat2(along_u, along_v);
}

void main() {
    vec2 q = place(), p = q / extent();
    for (int i = 0; i < 24; i++) {
        vec2 error = patch_at(p) - q;
        if (dot(error, error) < 1e-8) break;
        mat2 slopes = patch_slopes(p);
        if (abs(determinant(slopes)) < 1e-12) break;
        p = clamp(p - inverse(slopes) * error, -1.0, 2.0);
    }
    bool found = distance(patch_at(p), q) <= 0.5
        && all(greaterThanEqual(p, vec2(-1e-4))) && all(lessThanEqual(p, vec2(1.0001)));
    if (found) put(sampled(p * extent()));
    else put_erased();
}
