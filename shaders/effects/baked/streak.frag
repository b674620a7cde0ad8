// Some steps of a fading streak, one pixel per step, starting at the head. Two steps can share a pixel
// (effects.md 8.6).
#include "canvas.glsl"

uniform vec4 u_mark;       // canvas px: the streak's head; its length in steps; its opacity
uniform vec2 u_steps;      // first step, and the one after the last
uniform vec2 u_direction;  // canvas px that a step goes back, across and down
uniform vec4 u_tint;

void main() {
    vec2 head = u_mark.xy + 0.5, here = floor(v_frame);
    bool is_steep = abs(u_direction.y) >= abs(u_direction.x);
    float at = is_steep ? head.y - here.y : head.x - here.x, along = is_steep ? u_direction.y : u_direction.x;
    float first = floor(min(at / along, (at - 1.0) / along)), through = 1.0;
    for (int i = 0; i < 4; i++) {  // at most 4 steps are in one row, or one column, of pixels
        float k = first + float(i);
        bool is_here = k >= u_steps.x && k < u_steps.y && floor(head - u_direction * k) == here;
        if (is_here) through *= 1.0 - clamp(u_mark.w * (1.0 - k / u_mark.z), 0.0, 1.0);
    }
    if (through == 1.0) discard;
    f_color = vec4(u_tint.rgb, 1.0) * (1.0 - through);
}
