// A mean of 13 taps whose radius follows the luma of u_map, another layer over the frame, linear premultiplied
// (effects.md 8.1).
#include "chain.glsl"
#include "around.glsl"

uniform sampler2D u_map;
uniform vec4 u_map_region;
uniform float u_max_blur;
uniform bool u_invert;

// Points of a sunflower pattern: angle 2.39996323 k, radius sqrt((k + 1/2) / 12).
const vec2 TAPS[12] = vec2[](
    vec2(0.204124145, -0.000000000), vec2(-0.260699267, -0.238821884), vec2(0.039904202, 0.454687792),
    vec2(0.328594540, -0.428593391), vec2(-0.603011395, 0.106664226), vec2(0.571225035, 0.363366609),
    vec2(-0.191063596, -0.710747050), vec2(-0.364378996, 0.701589586), vec2(0.790556672, -0.288710031),
    vec2(-0.822442487, -0.339492301), vec2(0.396471627, 0.847236832), vec2(0.292982443, -0.934074206));

void main() {
    float m = luma709(texel_of(u_map, u_map_region, v_frame).rgb);
    float radius = u_max_blur * u_length_scale.x * clamp(u_invert ? 1.0 - m : m, 0.0, 1.0);
    vec4 sum = here();
    if (radius >= 0.34) {
        for (int k = 0; k < 12; k++) sum += frame_at(v_frame + radius * TAPS[k]);
        sum /= 13.0;
    }
    put(sum);
}
