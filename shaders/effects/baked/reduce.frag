// A picture at the target's smaller size, bilinear, mixed with its next mip level (u_smaller) by u_between, 0 to 1.
// Sums in the order and with the roundings of the browser's rasteriser, which decide all halves of the 8 bits: at three
// quarters of its size a picture has 8 % of them. in and out: premultiplied sRGB.
#include "frame.glsl"

uniform sampler2D u_source;
uniform sampler2D u_smaller;
uniform float u_between;
out vec4 f_color;

#ifdef GL_ARB_gpu_shader5
#define FUSED(a, b, c) fma(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

vec4 bilinear(sampler2D image, vec2 column_row) {
    ivec2 size = textureSize(image, 0);
    EXACT vec2 px_per_px = vec2(size) / u_region.zw;
    EXACT vec2 at = column_row * px_per_px;
    EXACT vec2 high = at + 0.5, low = at - 0.5;
    EXACT vec2 part = high - floor(high), rest = 1.0 - part;
    EXACT vec4 sum = vec4(0.0);
    for (int tap = 0; tap < 4; tap++) {
        bool is_right = (tap & 1) == 1, is_below = tap > 1;
        ivec2 texel = ivec2(floor(vec2(is_right ? high.x : low.x, is_below ? high.y : low.y)));
        EXACT vec4 level = floor(texelFetch(image, clamp(texel, ivec2(0), size - 1), 0) * 255.0 + 0.5) * (1.0 / 255.0);
        EXACT float area = (is_right ? part.x : rest.x) * (is_below ? part.y : rest.y);
        sum = FUSED(level, vec4(area), sum);
    }
    return sum;
}

void main() {
    vec2 column_row = floor(v_frame - u_region.xy) + 0.5;
    EXACT vec4 mean = bilinear(u_source, column_row);
    if (u_between > 0.0) {
        mean = FUSED(bilinear(u_smaller, column_row) - mean, vec4(u_between), mean);
    }
    f_color = roundEven(mean * 255.0) / 255.0;
}
