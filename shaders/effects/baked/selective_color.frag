// Adds cmyk to one range of colours (effects.md 8.5).
#include "effect.glsl"

uniform float u_range;  // 0 reds, yellows, greens, cyans, blues, magentas, 6 whites, 7 neutrals, 8 blacks
uniform float u_cyan, u_magenta, u_yellow, u_black;  // percent
uniform bool u_absolute;

float weight(vec3 c, int range) {
    float high = max(c.r, max(c.g, c.b)), low = min(c.r, min(c.g, c.b)), mid = c.r + c.g + c.b - high - low;
    if (high <= 0.0) return range == 8 ? 1.0 : 0.0;
    if (range == 6) return clamp(2.0 * (low - 0.5), 0.0, 1.0);
    if (range == 7) return clamp(1.0 - 2.0 * (abs(high - 0.5) + abs(low - 0.5)), 0.0, 1.0);
    if (range == 8) return clamp(2.0 * (0.5 - high), 0.0, 1.0);
    bool light = range % 2 == 0;  // reds, greens, blues: by the largest channel; their opposites by the smallest
    int channel = light ? range / 2 : ((range - 1) / 2 + 2) % 3;
    if (light) return c[channel] == high ? (high - mid) / high : 0.0;
    return c[channel] == low ? (mid - low) / high : 0.0;
}

float inked(float v, float amount, float w) {
    return clamp(v + w * (u_absolute ? amount : amount * v), 0.0, 1.0);
}

void main() {
    vec4 c = here();
    float w = weight(c.rgb, int(clamp(floor(u_range + 0.5), 0.0, 8.0)));
    float k = 1.0 - max(c.r, max(c.g, c.b));
    vec3 cmyk = k < 1.0 ? (1.0 - c.rgb - k) / (1.0 - k) : vec3(0.0);
    vec3 sliders = vec3(u_cyan, u_magenta, u_yellow) / 100.0;
    if (k < 1.0) cmyk = vec3(inked(cmyk.x, sliders.x, w), inked(cmyk.y, sliders.y, w), inked(cmyk.z, sliders.z, w));
    k = inked(k, u_black / 100.0, w);
    put_color(c, floor((1.0 - cmyk) * (1.0 - k) * 255.0 + 0.5) / 255.0);
}
