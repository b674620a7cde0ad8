// Luma times alpha of the straight canvas, in all four channels (effects.md 8.1, vector-blur).
#include "canvas.glsl"

// Straight colour of a byte texel. As in the native kernels, halves are rounded up: the quotient is of whole numbers.
vec3 straight_color() {
    vec4 t = texelFetch(u_source, pixel(), 0);
#ifdef STRAIGHT_IN
    return t.rgb;
#else
    vec4 bytes = floor(t * 255.0 + 0.5);
    return t.a > 0.0 ? min(floor((510.0 * bytes.rgb + bytes.a) / (2.0 * bytes.a)), 255.0) / 255.0 : vec3(0.0);
#endif
}

void main() {
    f_color = vec4(luma709(straight_color()) * here().a);
}
