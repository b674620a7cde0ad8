// Wipes like a clock's hand: clockwise, counter-clockwise or both ways from 12 o'clock (effects.md 8.11).
#include "wipe.glsl"

uniform float u_start_angle;  // degrees
uniform float u_wipe;         // 0 clockwise, 1 counter-clockwise, 2 both
uniform float u_center_x, u_center_y;  // px from the canvas centre
uniform float u_feather;      // degrees

float keep() {
    if (progress() >= 1.0) return 0.0;  // also at the angle where the hand started
    vec2 d = place() - center() - vec2(u_center_x, u_center_y);
    float turn = 2.0 * PI;
    float angle = mod(angle_of(vec2(-d.y, d.x)) - radians(u_start_angle), turn);
    float swept = turn * progress() * (u_wipe >= 2.0 ? 0.5 : 1.0);
    float clockwise = swept - angle, counter = swept - (turn - angle);
    float into = u_wipe >= 2.0 ? max(clockwise, counter) : u_wipe >= 1.0 ? counter : clockwise;
    if (into > 0.0) return 0.0;
    return u_feather > 0.0 ? -into / radians(u_feather) : 1.0;
}
