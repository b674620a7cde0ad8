// Blurs along a direction: adds displaced copies, premultiplied, with the largest weight in the middle
// (effects.md 8.1).
#include "canvas.glsl"

uniform float u_direction;  // degrees
uniform float u_length;     // px

// A displaced copy as the browser's canvas adds it: sample and weight are bytes, and the product is rounded almost up.
vec4 added(vec2 q, float share, float weight) {
    vec4 bytes = floor(texture(u_source, q / u_canvas_size) * (255.0 * share) + 0.5);
    return floor(bytes * (weight / 256.0) + 255.0 / 256.0);
}

// Share of a displaced pixel that the canvas covers.
float covered(vec2 q) {
    vec2 share = clamp(min(q + 0.5, u_canvas_size) - max(q - 0.5, vec2(0.0)), 0.0, 1.0);
    return share.x * share.y;
}

// The weights 1 - |k| / (n + 1) add up to n + 1.
float weight_of(float k, float n) {
    float steps = n + 1.0;  // in whole numbers, because weights can lie halfway between two bytes
    return quotient(510.0 * (steps - abs(k)) + steps * steps, 2.0 * steps * steps);
}

void main() {
    float n = clamp(floor(u_length + 0.5), 1.0, 64.0);
    vec2 away = 0.5 * u_length * direction(u_direction);
    bool is_inside = covered(v_frame - away) == 1.0 && covered(v_frame + away) == 1.0;
    vec4 sum = added(v_frame, 1.0, weight_of(0.0, n));
    for (float k = 1.0; k <= n && is_inside; k++) {
        vec2 step_ = k / n * away;
        float weight = weight_of(k, n);
        sum += added(v_frame - step_, 1.0, weight) + added(v_frame + step_, 1.0, weight);
    }
    for (float k = 1.0; k <= n && !is_inside; k++) {
        vec2 before = v_frame - k / n * away, behind = v_frame + k / n * away;
        float weight = weight_of(k, n);
        sum += added(before, covered(before), weight) + added(behind, covered(behind), weight);
    }
    f_color = min(sum, 255.0) / 255.0;
}
