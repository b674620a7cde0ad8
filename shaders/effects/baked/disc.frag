// A soft disc in one colour: 1 up to 0.6 of its radius, then half a cosine to 0 at the rim (effects.md 8.6).
#include "canvas.glsl"

uniform vec4 u_mark;  // canvas px: its centre and its radius; its opacity
uniform vec4 u_tint;

void main() {
    float part = length(v_frame - u_mark.xy) / u_mark.z;
    if (part > 1.0) discard;
    float share = clamp(u_mark.w * (0.5 + 0.5 * cos(PI * clamp((part - 0.6) / 0.4, 0.0, 1.0))), 0.0, 1.0);
    f_color = vec4(u_tint.rgb * share, share);
}
