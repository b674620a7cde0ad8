// One axis of a box blur with a radius for each channel, over straight bytes (format/effects.md 8.1).
#include "canvas.glsl"

uniform float u_red_blurriness;
uniform float u_green_blurriness;
uniform float u_blue_blurriness;
uniform float u_alpha_blurriness;
uniform bool u_repeat_edge;
uniform vec2 u_axis;

void main() {
    vec4 blurriness = vec4(u_red_blurriness, u_green_blurriness, u_blue_blurriness, u_alpha_blurriness);
    vec4 radius = clamp(floor(blurriness + 0.5), 0.0, dot(u_canvas_size, u_axis)), sum = vec4(0.0);
    int margin = int(max(max(radius.r, radius.g), max(radius.b, radius.a)));
    for (int k = -margin; k <= margin; k++) {
        ivec2 p = pixel() + k * ivec2(u_axis);
        vec4 t = u_repeat_edge ? texel_clamped(p) : texel(p);
        sum += t * vec4(lessThanEqual(vec4(abs(k)), radius));
    }
    put(sum / (2.0 * radius + 1.0));
}
