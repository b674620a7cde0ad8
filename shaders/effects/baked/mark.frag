// A mark in one colour, mixed over premultiplied floats (format/effects.md 8.6). DISC: soft, 1 up to 0.6 of its radius, then half a
// cosine to 0 at the rim; else every pixel of its box.
#include "canvas.glsl"

uniform vec4 u_mark;  // canvas px: its middle and its size; its strength
uniform vec4 u_tint;

void main() {
    float share = u_mark.w;
#ifdef DISC
    float part = length(v_frame - u_mark.xy) / u_mark.z;
    if (part > 1.0) discard;
    share = min(share * (0.5 + 0.5 * cos(PI * clamp((part - 0.6) / 0.4, 0.0, 1.0))), 1.0);
#endif
    f_color = vec4(u_tint.rgb * share, share);
}
