// A blur along the contours of u_field, a smoothed luma (effects.md 8.1).
#include "canvas.glsl"

uniform sampler2D u_field;
uniform float u_amount;
uniform float u_angle_offset;

float field(ivec2 p) {
    return texelFetch(u_field, clamp(p, ivec2(0), ivec2(u_canvas_size) - 1), 0).r;
}

void main() {
    ivec2 p = pixel(), x = ivec2(1, 0), y = ivec2(0, 1);
    // Actual distance of the two samples: 1 in the first and last column or row.
    ivec2 last = ivec2(u_canvas_size) - 1;
    vec2 apart = max(vec2(1.0), vec2(min(p + 1, last) - max(p - 1, ivec2(0))));
    vec2 slope = 255.0 * vec2(field(p + x) - field(p - x), field(p + y) - field(p - y)) / apart;
    if (length(slope) <= 1e-4) {
        put_through();
        return;
    }
    vec2 dir = turned(normalize(vec2(-slope.y, slope.x)), radians(u_angle_offset));
    float margin = clamp(floor(u_amount + 0.5), 2.0, 24.0), count = 0.0;
    vec4 sum = vec4(0.0);
    for (float k = -margin; k <= margin; k++) {
        ivec2 q = ivec2(floor(vec2(p) + dir * k * u_amount / margin + 0.5));
        if (!on_canvas(q)) continue;
        sum += texel(q);
        count++;
    }
    put(sum / count);
}
