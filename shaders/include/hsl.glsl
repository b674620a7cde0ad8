// Hue, saturation, lightness, each 0..1 (effects.md 6).

vec3 rgb_to_hsl(vec3 c) {
    float high = max(c.r, max(c.g, c.b)), low = min(c.r, min(c.g, c.b)), d = high - low, l = 0.5 * (high + low);
    if (d <= 0.0) return vec3(0.0, 0.0, l);
    float s = l > 0.5 ? d / (2.0 - high - low) : d / (high + low);
    float h = high == c.r ? (c.g - c.b) / d + (c.g < c.b ? 6.0 : 0.0)
        : high == c.g ? (c.b - c.r) / d + 2.0
        : (c.r - c.g) / d + 4.0;
    return vec3(h / 6.0, s, l);
}

float hue_channel(float p, float q, float t) {
    t = fract(t);
    if (t < 1.0 / 6.0) return p + 6.0 * (q - p) * t;
    if (t < 0.5) return q;
    if (t < 2.0 / 3.0) return p + 6.0 * (q - p) * (2.0 / 3.0 - t);
    return p;
}

vec3 hsl_to_rgb(vec3 c) {
    if (c.y <= 0.0) return vec3(c.z);
    float q = c.z < 0.5 ? c.z * (1.0 + c.y) : c.z + c.y - c.z * c.y, p = 2.0 * c.z - q;
    return vec3(hue_channel(p, q, c.x + 1.0 / 3.0), hue_channel(p, q, c.x), hue_channel(p, q, c.x - 1.0 / 3.0));
}

// Hues are a circle, so their distance is at most 1/2.
float hue_distance(float a, float b) {
    float d = abs(a - b);
    return min(d, 1.0 - d);
}
