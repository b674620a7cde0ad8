// Converts between colour models, or between luma, alpha and the extremes (effects.md 8.10).
#include "effect.glsl"
#include "hsl.glsl"

uniform float u_combiner_mode;  // 0 to 7, in the order of the cases below

void main() {
    vec4 c = here();
    if (c.a == 0.0) {  // kernels skip transparent pixels (effects.md 6)
        put_through();
        return;
    }
    float y = luma709(c.rgb), middle = 128.0 / 255.0;
    switch (int(clamp(floor(u_combiner_mode + 0.5), 0.0, 7.0))) {
        case 0: put(vec4(rgb_to_hsl(c.rgb), c.a)); break;  // RGB to HSL
        case 1: put(vec4(hsl_to_rgb(c.rgb), c.a)); break;  // HSL to RGB
        case 2: put(vec4(y, 0.565 * (c.b - y) + middle, 0.713 * (c.r - y) + middle, c.a)); break;  // RGB to YUV
        case 3: {  // YUV to RGB
            float u = c.g - middle, v = c.b - middle;
            put(vec4(c.r + 1.403 * v, c.r - 0.344 * u - 0.714 * v, c.r + 1.770 * u, c.a));
            break;
        }
        case 4: put(vec4(c.rgb, y)); break;
        case 5: put(vec4(vec3(c.a), 1.0)); break;
        case 6: put(vec4(vec3(max(c.r, max(c.g, c.b))), c.a)); break;
        default: put(vec4(vec3(min(c.r, min(c.g, c.b))), c.a)); break;
    }
}
