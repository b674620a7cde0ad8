// A wave that runs through the picture (effects.md 8.8).
#include "effect.glsl"

uniform float u_wave_height, u_wave_width;  // px
uniform float u_direction, u_phase;         // degrees

void main() {
    vec2 q = vec2(pixel()), dir = direction(u_direction);
    float along = q.y * dir.x - q.x * dir.y;
    float moved = u_wave_height * sin(2.0 * PI * along / max(2.0, u_wave_width) + radians(u_phase));
    put(sampled_clamped(q - dir * moved));
}
