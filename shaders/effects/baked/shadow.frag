// The CSS drop-shadow filter: u_shape, the picture blurred, displaced and in one colour, below the picture.
#include "canvas.glsl"

uniform sampler2D u_shape;
uniform vec4 u_shape_region;  // includes pixels beyond the canvas that are displaced onto it
uniform vec4 u_color;
uniform vec2 u_offset;

float shape(vec2 index) {
    vec2 corner = floor(index), part = index - corner;
    float a[4];
    for (int k = 0; k < 4; k++) {
        vec2 q = corner + vec2(k % 2, k / 2) + 0.5;
        a[k] = holds_frame(u_shape_region, q) ? texel_of(u_shape, u_shape_region, q).a : 0.0;
    }
    return mix(mix(a[0], a[1], part.x), mix(a[2], a[3], part.x), part.y);
}

void main() {
    float a = shape(v_frame - 0.5 - u_offset) * u_color.a;
    vec4 top = texelFetch(u_source, pixel(), 0);
    f_color = top + vec4(u_color.rgb * a, a) * (1.0 - top.a);
}
