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
    put_color(c, c.rgb + u_amount / 100.0 * (4.0 * c.rgb - around));
}
#else
// Buffer at a distance along an axis: between two pixels of one row or column.
vec3 along(float away, vec2 axis) {
    vec2 from = v_frame + away * axis - 0.5, first = floor(from);
    vec4 near = texel_of(u_source, u_source_region, first + 0.5), far = texel_of(u_source, u_source_region, first + 0.5 + axis);
    return mix(near.rgb, far.rgb, dot(from - first, axis));
}

void main() {
    vec2 away = u_length_scale, x = vec2(1.0, 0.0), y = x.yx;
    vec4 c = here();
    vec3 around = along(-away.x, x) + along(away.x, x) + along(-away.y, y) + along(away.y, y);
    put(vec4(c.rgb + u_amount / 100.0 * (4.0 * c.rgb - around), c.a));
}
#endif
