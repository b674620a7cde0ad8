// A mean of 13 taps whose radius follows the luma of u_map, another layer over the frame, linear premultiplied
// (effects.md 8.1).
#include "chain.glsl"
#include "around.glsl"

uniform sampler2D u_map;
uniform vec4 u_map_region;
uniform float u_max_blur;
uniform bool u_invert;

void main() {
    float m = luma709(texel_of(u_map, u_map_region, v_frame).rgb);
    float radius = u_max_blur * u_length_scale.x * clamp(u_invert ? 1.0 - m : m, 0.0, 1.0);
    vec4 sum = here();
    if (radius >= 0.34) {
        for (int k = 0; k < 12; k++) {
            float angle = float(k) * 2.39996323, away = radius * sqrt((float(k) + 0.5) / 12.0);
            sum += frame_at(v_frame + away * vec2(cos(angle), -sin(angle)));
        }
        sum /= 13.0;
    }
    put(sum);
}
