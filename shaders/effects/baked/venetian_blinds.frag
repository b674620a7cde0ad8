// Wipes in parallel slats (effects.md 8.11).
#include "wipe.glsl"

uniform float u_direction;         // degrees
uniform float u_width, u_feather;  // px

float keep() {
    if (progress() >= 1.0) return 0.0;  // also on the borders of the slats
    float width = max(1.0, u_width);
    float across = mod(dot(vec2(pixel()) - center(), direction(u_direction)), width);
    float beyond = abs(across - 0.5 * width) - 0.5 * width * progress();
    if (beyond < 0.0) return 0.0;
    return u_feather > 0.0 ? beyond / u_feather : 1.0;
}
