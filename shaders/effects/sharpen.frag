// Raises each pixel against its four neighbours (effects.md 8.1). On the GPU route in premultiplied linear light at
// one output px; on a canvas on straight bytes.
#include "effect.glsl"
#include "around.glsl"

uniform float u_amount;

#ifdef BAKED
void main() {
    ivec2 p = pixel();
    vec4 c = here();
    vec3 around = texel_clamped(p - ivec2(1, 0)).rgb + texel_clamped(p + ivec2(1, 0)).rgb
        + texel_clamped(p - ivec2(0, 1)).rgb + texel_clamped(p + ivec2(0, 1)).rgb;
    put(vec4(c.rgb + u_amount / 100.0 * (4.0 * c.rgb - around), c.a));
}
#else
void main() {
    vec2 x = vec2(u_length_scale, 0.0), y = x.yx;
    vec4 c = here();
    vec3 around = frame_at(v_frame - x).rgb + frame_at(v_frame + x).rgb + frame_at(v_frame - y).rgb + frame_at(v_frame + y).rgb;
    put(vec4(c.rgb + u_amount / 100.0 * (4.0 * c.rgb - around), c.a));
}
#endif
