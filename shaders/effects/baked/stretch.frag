// A small canvas stretched over this one: bilinear between straight texels, centres aligned (format/effects.md 8.1).
#include "canvas.glsl"

uniform sampler2D u_small;

vec4 small(ivec2 p) {
    return straight_bytes(texelFetch(u_small, clamp(p, ivec2(0), textureSize(u_small, 0) - 1), 0));
}

void main() {
    vec2 at = v_frame / u_canvas_size * vec2(textureSize(u_small, 0)) - 0.5, corner = floor(at), part = at - corner;
    ivec2 p = ivec2(corner);
    put(mix(mix(small(p), small(p + ivec2(1, 0)), part.x), mix(small(p + ivec2(0, 1)), small(p + ivec2(1, 1)), part.x), part.y));
}
