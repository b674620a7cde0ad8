// Blurs along a direction: displaced copies, weighted most in the middle, added up premultiplied (format/effects.md 8.1).
#include "canvas.glsl"

uniform float u_direction;  // degrees
uniform float u_length;     // px

// A displaced copy as the browser's canvas adds it: the sample and the weight in bytes, the product rounded almost up.
vec4 copy_at(vec2 q, float weight) {
    vec2 share = clamp(min(q + 0.5, u_canvas_size) - max(q - 0.5, vec2(0.0)), 0.0, 1.0);
    vec4 bytes = floor(texture(u_source, q / u_canvas_size) * share.x * share.y * 255.0 + 0.5);
    return floor((bytes * weight + 255.0) / 256.0);
}

void main() {
    float n = clamp(floor(u_length + 0.5), 1.0, 64.0);
    vec2 away = 0.5 * u_length * direction(u_direction);
    vec4 sum = vec4(0.0);
    for (float k = -n; k <= n; k++) {
        // The weights 1 - |k| / (n + 1) add up to n + 1.
        float weight = floor(255.0 * (1.0 - abs(k) / (n + 1.0)) / (n + 1.0) + 0.5);
        if (weight > 0.0) sum = min(sum + copy_at(v_frame - k / n * away, weight), 255.0);
    }
    f_color = sum / 255.0;
}
