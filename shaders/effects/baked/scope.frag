// An effect limited to a mask (effects.md 4.5): mixes u_source, after the effect, with u_before. Both are
// premultiplied.
#include "canvas.glsl"

uniform sampler2D u_before;
uniform sampler2D u_coverage;

void main() {
    vec4 after = texelFetch(u_source, pixel(), 0), before = texelFetch(u_before, pixel(), 0);
    float c = texture(u_coverage, v_frame / u_canvas_size).r;
    f_color = after * c + before * (1.0 - c) * (1.0 - after.a * c);
}
