// Mixes u_marks, a target of marks (premultiplied), over the canvas. Pixels without a mark do not change.
#include "canvas.glsl"

uniform sampler2D u_marks;
uniform vec4 u_marks_region;

void main() {
    vec4 m = vec4(0.0);
    if (holds_frame(u_marks_region, v_frame)) m = texelFetch(u_marks, pixel() - ivec2(u_marks_region.xy), 0);
    if (m.a == 0.0) {
        put_through();
        return;
    }
    vec4 own = here();
    float under = own.a * (1.0 - m.a), alpha = m.a + under;
    put(vec4((m.rgb + own.rgb * under) / alpha, alpha));
}
