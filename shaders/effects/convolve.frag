// One axis of a separable blur. in: u_source, premultiplied, any space; u_taps, (offset px, weight) pairs that are taken
// on both sides of the pixel. out: premultiplied, each tap's colour limited to its alpha (format/compositing.md 7.1).
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform vec2 u_axis;
uniform int u_count;
uniform float u_center;
uniform vec2 u_taps[32];
in vec2 v_frame;
out vec4 f_color;

vec4 tap(vec2 position) {
    vec4 t = texture(u_source, within(u_source_region, position));
    return vec4(min(t.rgb, t.a), t.a);
}

void main() {
    vec4 sum = u_center * tap(v_frame);
    for (int i = 0; i < u_count; i++) {
        vec2 away = u_taps[i].x * u_axis;
        sum += u_taps[i].y * (tap(v_frame + away) + tap(v_frame - away));
    }
    f_color = sum;
}
