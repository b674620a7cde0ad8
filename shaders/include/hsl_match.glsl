// Match of two colours, 0..1, within tolerances of hue, saturation and lightness (effects.md 8.5).
#include "hsl.glsl"

uniform float u_hue_tolerance, u_sat_tolerance, u_light_tolerance, u_softness;  // percent

float within_tolerance(float tolerance, float off) {
    return 1.0 - ramp(tolerance * (1.0 - u_softness / 100.0), tolerance, off);
}

float hsl_match(vec3 own, vec3 wanted) {
    return within_tolerance(0.005 * u_hue_tolerance, hue_distance(own.x, wanted.x))
        * within_tolerance(u_sat_tolerance / 100.0, abs(own.y - wanted.y))
        * within_tolerance(u_light_tolerance / 100.0, abs(own.z - wanted.z));
}
