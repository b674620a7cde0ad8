// Bends the four edges as curves: a Coons patch, inverted by Newton's method (effects.md 8.8). Where the patch
// folds, the result depends on every digit, so it has the precision of the reference.
#include "effect.glsl"

uniform vec4 u_points[12];  // px, clockwise from the top-left corner, three an edge: as a float, and the rest of a double

REAL2 point(int index) {
    return REAL2(u_points[index].xy) + REAL2(u_points[index].zw);
}

REAL2 edge(int first, REAL t) {
    REAL s = 1.0 - t;
    return s * s * s * point(first) + 3.0 * s * s * t * point(first + 1)
        + 3.0 * s * t * t * point(first + 2) + t * t * t * point((first + 3) % 12);
}

REAL2 edge_slope(int first, REAL t) {
    REAL2 a = point(first), b = point(first + 1), c = point(first + 2), d = point((first + 3) % 12);
    REAL s = 1.0 - t;
    return 3.0 * (s * s * (b - a) + 2.0 * s * t * (c - b) + t * t * (d - c));
}

REAL2 patch_at(REAL2 p) {
    REAL2 corners = mix(mix(point(0), point(3), p.x), mix(point(9), point(6), p.x), p.y);
    return (1.0 - p.y) * edge(0, p.x) + p.y * edge(6, 1.0 - p.x)
        + (1.0 - p.x) * edge(9, 1.0 - p.y) + p.x * edge(3, p.y) - corners;
}

REAL2 slope_u(REAL2 p) {
    REAL2 corners = mix(point(3) - point(0), point(6) - point(9), p.y);
    return (1.0 - p.y) * edge_slope(0, p.x) - p.y * edge_slope(6, 1.0 - p.x) - edge(9, 1.0 - p.y) + edge(3, p.y) - corners;
}

REAL2 slope_v(REAL2 p) {
    REAL2 corners = mix(point(9) - point(0), point(6) - point(3), p.x);
    return edge(6, 1.0 - p.x) - edge(0, p.x)
        - (1.0 - p.x) * edge_slope(9, 1.0 - p.y) + p.x * edge_slope(3, p.y) - corners;
}

void main() {
    REAL2 q = REAL2(place()), p = q / REAL2(extent());
    for (int i = 0; i < 24; i++) {
        REAL2 error = patch_at(p) - q;
        if (dot(error, error) < 1e-8) break;
        REAL2 u = slope_u(p), v = slope_v(p);
        REAL area = u.x * v.y - u.y * v.x;
        if (abs(area) < 1e-12) break;
        REAL2 step_ = REAL2(error.x * v.y - error.y * v.x, u.x * error.y - u.y * error.x) / area;
        p = clamp(p - step_, REAL2(-1.0), REAL2(2.0));
    }
    REAL2 miss = patch_at(p) - q;
    bool found = dot(miss, miss) <= 0.25 && p.x >= -1e-4 && p.y >= -1e-4 && p.x <= 1.0001 && p.y <= 1.0001;
    if (found) put(sampled(vec2(p * REAL2(extent()))));
    else put_erased();
}
