// One axis of a separable blur. in: u_source, premultiplied, any space; u_taps, (offset px, weight) pairs that are taken
// on both sides of the pixel. out: premultiplied, each tap's colour limited to its alpha (format/compositing.md 7.1).
// What lies beyond the source is its edge repeated or, with u_clear_outside, transparent.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform vec2 u_axis;
uniform int u_count;
uniform float u_center;
uniform bool u_clear_outside;
uniform vec2 u_taps[32];
out vec4 f_color;

// The share of the pixel-wide tap at a position that lies on the source, along the axis.
float share(vec2 position) {
    float at = dot(position, u_axis), low = dot(u_source_region.xy, u_axis), high = low + dot(u_source_region.zw, u_axis);
    return clamp(min(at + 0.5, high) - max(at - 0.5, low), 0.0, 1.0);
}

vec4 tap(vec2 position) {
    float at = dot(position, u_axis) - 0.5, part = fract(at);
    vec2 first = position - part * u_axis;
    vec4 t = mix(texel_of(u_source, u_source_region, first), texel_of(u_source, u_source_region, first + u_axis), part);
    t = vec4(min(t.rgb, t.a), t.a);
    return u_clear_outside ? t * share(position) : t;
}

void main() {
    vec4 sum = u_center * tap(v_frame);
    for (int i = 0; i < u_count; i++) {
        vec2 away = u_taps[i].x * u_axis;
        sum += u_taps[i].y * (tap(v_frame + away) + tap(v_frame - away));
    }
    f_color = sum;
}
