// A small canvas stretched over this one: bilinear between straight texels, centres aligned (effects.md 8.1).
#include "canvas.glsl"

uniform sampler2D u_small;  // straight

vec4 small(ivec2 p) {
    return texelFetch(u_small, p, 0);
}

void main() {
    // The first half cell is extrapolated: the share of the second texel is negative there.
    ivec2 last = textureSize(u_small, 0) - 1;
    vec2 at = v_frame / u_canvas_size * vec2(last + 1) - 0.5;
    ivec2 p = clamp(ivec2(floor(at)), ivec2(0), last), next = min(p + 1, last);
    vec2 part = at - vec2(p);
    vec4 top = mix(small(p), small(ivec2(next.x, p.y)), part.x);
    put(mix(top, mix(small(ivec2(p.x, next.y)), small(next), part.x), part.y));
}
