// Spin or zoom blur about a point: nearest samples, one-sided (effects.md 8.1).
// ZOOM: zoom instead of spin. It is a #define because software rasterisers would compute both.
#include "canvas.glsl"
#include "middle.glsl"

uniform float u_amount;     // degrees, or percent
uniform float u_quality;

void main() {
    float n = clamp(floor(u_quality + 0.5), 2.0, 64.0), count = 0.0;
    vec2 v = vec2(pixel()) - middle();
    vec4 sum = vec4(0.0);
    for (float k = 0.0; k < n; k++) {
        float t = k / (n - 1.0);
#ifdef ZOOM
        vec2 w = v / (1.0 + u_amount / 100.0 * t);
#else
        vec2 w = turned(v, radians(u_amount) * t);
#endif
        ivec2 p = ivec2(floor(middle() + w + 0.5));
        if (!on_canvas(p)) continue;
        vec4 found = texel(p);
        sum += vec4(found.rgb * found.a, found.a);
        count++;
    }
    put(sum.a > 0.0 ? vec4(sum.rgb / sum.a, sum.a / count) : vec4(0.0));
}
