// One axis of a box blur with a radius for each channel, over straight bytes (effects.md 8.1).
#include "canvas.glsl"

uniform float u_red_blurriness;
uniform float u_green_blurriness;
uniform float u_blue_blurriness;
uniform float u_alpha_blurriness;
uniform bool u_repeat_edge;
uniform ivec2 u_axis;

void main() {
    vec4 radius = max(vec4(0.0), floor(vec4(u_red_blurriness, u_green_blurriness, u_blue_blurriness, u_alpha_blurriness) + 0.5));
    ivec2 along = pixel() * u_axis, across = pixel() - along;
    int here_ = along.x + along.y, last = int(dot(u_canvas_size, vec2(u_axis))) - 1;
    int margin = int(max(max(radius.r, radius.g), max(radius.b, radius.a)));
    vec4 sum = vec4(0.0);
    for (int at = max(0, here_ - margin); at <= min(last, here_ + margin); at++) {
        sum += texel(across + at * u_axis) * vec4(lessThanEqual(vec4(abs(at - here_)), radius));
    }
    if (u_repeat_edge) {  // all taps beyond an edge have the same value
        sum += texel(across) * max(radius - float(here_), 0.0);
        sum += texel(across + last * u_axis) * max(radius - float(last - here_), 0.0);
    }
    put(sum / (2.0 * radius + 1.0));
}
