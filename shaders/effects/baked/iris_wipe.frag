// Wipes from a point, in a circle or a polygon (effects.md 8.11).
#include "wipe.glsl"
#include "middle.glsl"

uniform float u_iris_points;           // a circle below 3
uniform float u_rotation;              // degrees
uniform float u_inner_radius, u_feather;  // px
uniform bool u_use_inner_radius, u_invert_iris;

float keep() {
    vec2 d = place() - middle();
    float outer = progress() * length(max(middle(), extent() - middle()));
    float feather = max(0.001, u_feather), n = floor(u_iris_points + 0.5), far = length(d);
    if (n >= 3.0) {
        float slot = 2.0 * PI / n, angle = angle_of(d) - radians(u_rotation);
        far *= cos(angle - slot * floor(angle / slot + 0.5)) / cos(PI / n);
    }
    float share = ramp(outer - feather, outer + feather, far);
    float inner = u_use_inner_radius ? min(outer, u_inner_radius) : 0.0;
    if (inner > 0.0) share = max(share, 1.0 - ramp(inner - feather, inner + feather, far));
    return u_invert_iris ? 1.0 - share : share;
}
