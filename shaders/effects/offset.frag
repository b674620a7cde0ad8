// Shifts the picture with its edges wrapping around (effects.md 8.8). As in the reference, the GPU form adds half the
// layer to the shift.
#include "effect.glsl"
#include "around.glsl"
#include "modulo.glsl"

uniform float u_shift_x;
uniform float u_shift_y;
uniform float u_blend;

#ifdef BAKED
vec4 wrapped(ivec2 p) {
    ivec2 size = ivec2(u_canvas_size);
    return texel(ivec2(modulo(p.x, size.x), modulo(p.y, size.y)));
}

vec4 shifted(vec2 q) {
    vec2 at = q - 0.5, corner = floor(at), part = at - corner;
    ivec2 p = ivec2(corner);
    return mix(mix(wrapped(p), wrapped(p + ivec2(1, 0)), part.x),
        mix(wrapped(p + ivec2(0, 1)), wrapped(p + ivec2(1, 1)), part.x), part.y);
}
#else
vec4 shifted(vec2 q) {
    return encoded_at(remainder(q + 0.5 * extent(), extent()));
}
#endif

void main() {
    vec2 q = place();
    if (!inside(q) || u_blend >= 100.0) {
        put_through();
        return;
    }
    put_encoded(clamp(mix(shifted(q - vec2(u_shift_x, u_shift_y)), encoded_here(), u_blend / 100.0), 0.0, 1.0));
}
