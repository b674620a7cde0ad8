// A ring behind the picture: 32 displaced copies of u_shape, the silhouette, minus the silhouette itself
// (effects.md 8.2).
#include "canvas.glsl"

uniform sampler2D u_shape;
uniform float u_width;
uniform vec4 u_color;
uniform float u_opacity;

float shape(vec2 index) {
    vec2 corner = floor(index), part = index - corner;
    ivec2 p = ivec2(corner);
    float a[4];
    for (int k = 0; k < 4; k++) {
        ivec2 q = p + ivec2(k % 2, k / 2);
        a[k] = on_canvas(q) ? texelFetch(u_shape, q, 0).a : 0.0;
    }
    return mix(mix(a[0], a[1], part.x), mix(a[2], a[3], part.x), part.y);
}

void main() {
    float ring = 0.0, own = texelFetch(u_shape, pixel(), 0).a;
    for (int k = 0; k < 32 && ring < 1.0 && own < 1.0; k++) {
        float angle = radians(11.25 * float(k));
        ring += (1.0 - ring) * shape(v_frame - 0.5 - u_width * vec2(cos(angle), sin(angle)));
    }
    float a = ring * (1.0 - own) * u_color.a * clamp(u_opacity, 0.0, 1.0);
    vec4 top = texelFetch(u_source, pixel(), 0);
    f_color = top + vec4(u_color.rgb * a, a) * (1.0 - top.a);
}
