// One axis of a separable blur. in: u_source, premultiplied, any space; u_weights, the kernel at 0, 1 ... MARGIN px, at most 32;
// u_far: distance in px and weight of FAR taps beyond these. All taps apply on both sides. out: premultiplied, each
// tap's colour limited to its alpha (compositing.md 7.1).
// ALPHA: out is only the alpha, in every channel.
// Beyond the source its edge repeats. With CLEAR_OUTSIDE all is transparent there. Nearest taps in straight-line code
// are several times faster than a loop of bilinear taps on software rasterisers, and as fast on hardware. The sampler
// must take the nearest texel and repeat the edge, which is cheaper than texelFetch within clamped bounds.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
uniform vec2 u_axis;
uniform float u_weights[MARGIN + 1];
#ifdef FAR
uniform vec2 u_far[FAR];
#endif
out vec4 f_color;

#ifdef ALPHA
#define TEXEL float
#else
#define TEXEL vec4
#endif

TEXEL tap(ivec2 p) {
    ivec2 last = textureSize(u_source, 0) - 1;
    vec4 t = texture(u_source, (vec2(p) + 0.5) / vec2(last + 1));
    t.rgb = min(t.rgb, t.a);
#ifdef CLEAR_OUTSIDE
    if (any(lessThan(p, ivec2(0))) || any(greaterThan(p, last))) t = vec4(0.0);
#endif
#ifdef ALPHA
    return t.a;
#else
    return t;
#endif
}

#define PAIR(i) sum += u_weights[i] * (tap(p + (i) * axis) + tap(p - (i) * axis));
#define FOUR(i) PAIR((i) + 1) PAIR((i) + 2) PAIR((i) + 3) PAIR((i) + 4)

void main() {
    ivec2 p = ivec2(floor(v_frame - u_source_region.xy)), axis = ivec2(u_axis);
    TEXEL sum = u_weights[0] * tap(p);
#if MARGIN >= 4
    FOUR(0)
#endif
#if MARGIN >= 8
    FOUR(4)
#endif
#if MARGIN >= 12
    FOUR(8)
#endif
#if MARGIN >= 16
    FOUR(12)
#endif
#if MARGIN >= 20
    FOUR(16)
#endif
#if MARGIN >= 24
    FOUR(20)
#endif
#if MARGIN >= 28
    FOUR(24)
#endif
#if MARGIN >= 32
    FOUR(28)
#endif
#ifdef FAR
    for (int i = 0; i < FAR; i++) {
        ivec2 distance = int(u_far[i].x) * axis;
        sum += u_far[i].y * (tap(p + distance) + tap(p - distance));
    }
#endif
    f_color = vec4(sum);
}
