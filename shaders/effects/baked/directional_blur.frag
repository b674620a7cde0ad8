// Blurs along a direction: displaced copies, weighted most in the middle, added up premultiplied (format/effects.md 8.1).
#include "canvas.glsl"

uniform float u_direction;  // degrees
uniform float u_length;     // px

vec4 copy_at(vec2 q) {
    vec2 share = clamp(min(q + 0.5, u_canvas_size) - max(q - 0.5, vec2(0.0)), 0.0, 1.0);
    return texture(u_source, q / u_canvas_size) * share.x * share.y;
}

void main() {
    float n = clamp(floor(u_length + 0.5), 1.0, 64.0);
    vec2 away = 0.5 * u_length * direction(u_direction);
    vec4 sum = copy_at(v_frame);
    for (float k = 1.0; k <= n; k++) {
        float weight = 1.0 - k / (n + 1.0);
        sum += weight * (copy_at(v_frame + k / n * away) + copy_at(v_frame - k / n * away));
    }
    f_color = sum / (n + 1.0);
}
