// Moves the four corners in perspective (effects.md 8.8).
#include "effect.glsl"

uniform mat3 u_to_unit;  // canvas px to the unit square, homogeneous

void main() {
    vec3 h = u_to_unit * vec3(place(), 1.0);
    vec2 unit = h.xy / h.z;
    if (any(lessThan(unit, vec2(0.0))) || any(greaterThan(unit, vec2(1.0)))) put_erased();
    else put(sampled(unit * extent()));
}
