// Pulls red and blue apart, along a direction or away from a point (effects.md 8.9).
#include "effect.glsl"
#include "around.glsl"
#include "middle.glsl"

uniform float u_amount;
uniform float u_aberration_mode;  // 1 along a direction, otherwise away from the point
uniform float u_angle;
uniform float u_falloff;

#ifdef BAKED
// On a canvas pixels lie at whole coordinates (effects.md 6, idx).
#define OWN_PLACE vec2(pixel())
vec4 at(vec2 q) {
    return sampled_clamped(q);
}
#else
#define OWN_PLACE place()
vec4 at(vec2 q) {
    return encoded_at(q);
}
#endif

void main() {
    vec2 q = OWN_PLACE;
    if (!inside(q)) {
        put_through();
        return;
    }
    vec2 away = direction(u_angle) * u_amount;
    if (floor(u_aberration_mode + 0.5) != 1.0) {
        vec2 v = q - middle(), corner = max(middle(), extent() - middle());
        float r = length(v);
        if (r < 0.001) {
            put_through();
            return;
        }
        away = v / r * u_amount * pow(r / length(corner), 1.0 + 3.0 * u_falloff / 100.0);
    }
    vec4 red = at(q - away), green = encoded_here(), blue = at(q + away);
    put_encoded(vec4(red.r, green.g, blue.b, max(green.a, max(red.a, blue.a))));
}
