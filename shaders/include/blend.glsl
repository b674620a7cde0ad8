// The blend functions B(b, s) of format/compositing.md 3.2 on straight linear colours; b backdrop, s source.
// MODE selects one; 0 is normal.

float lum(vec3 c) {
    return dot(c, vec3(0.3, 0.59, 0.11));
}

float sat_of(vec3 c) {
    return max(c.r, max(c.g, c.b)) - min(c.r, min(c.g, c.b));
}

vec3 set_sat(vec3 c, float s) {
    float low = min(c.r, min(c.g, c.b)), range = sat_of(c);
    return range > 0.0 ? (c - low) * (s / range) : vec3(0.0);
}

vec3 set_lum(vec3 c, float l) {
    c += l - lum(c);
    float L = lum(c), low = min(c.r, min(c.g, c.b)), high = max(c.r, max(c.g, c.b));
    if (low < 0.0) {
        c = L + (c - L) * L / (L - low + 1e-7);
    }
    if (high > 1.0) {
        c = L + (c - L) * (1.0 - L) / (high - L + 1e-7);
    }
    return c;
}

float color_dodge(float b, float s) {
    return b <= 0.0 ? 0.0 : s >= 1.0 ? 1.0 : min(1.0, b / (1.0 - s));
}

float color_burn(float b, float s) {
    return b >= 1.0 ? 1.0 : s <= 0.0 ? 0.0 : 1.0 - min(1.0, (1.0 - b) / s);
}

float hard_light(float b, float s) {
    return s <= 0.5 ? 2.0 * b * s : 1.0 - 2.0 * (1.0 - b) * (1.0 - s);
}

float soft_light(float b, float s) {
    float g = b <= 0.25 ? ((16.0 * b - 12.0) * b + 4.0) * b : sqrt(b);
    return s <= 0.5 ? b - (1.0 - 2.0 * s) * b * (1.0 - b) : b + (2.0 * s - 1.0) * (g - b);
}

float vivid_light(float b, float s) {
    if (s <= 0.5) {
        float d = 2.0 * s;
        return d <= 0.0 ? 0.0 : 1.0 - min(1.0, (1.0 - b) / d);
    }
    float d = 2.0 * (s - 0.5);
    return d >= 1.0 ? 1.0 : min(1.0, b / (1.0 - d));
}

float channel(float b, float s) {
#if MODE == 1
    return b * s;
#elif MODE == 2
    return b + s - b * s;
#elif MODE == 3
    return hard_light(s, b);
#elif MODE == 4
    return min(b, s);
#elif MODE == 5
    return max(b, s);
#elif MODE == 6
    return color_dodge(b, s);
#elif MODE == 7
    return color_burn(b, s);
#elif MODE == 8
    return hard_light(b, s);
#elif MODE == 9
    return soft_light(b, s);
#elif MODE == 10 || MODE == 26
    return abs(b - s);
#elif MODE == 11
    return b + s - 2.0 * b * s;
#elif MODE == 16
    return clamp(b + s - 1.0, 0.0, 1.0);
#elif MODE == 17
    return clamp(b + s, 0.0, 1.0);
#elif MODE == 18
    return clamp(b + 2.0 * s - 1.0, 0.0, 1.0);
#elif MODE == 19
    return vivid_light(b, s);
#elif MODE == 20
    return s <= 0.5 ? min(b, 2.0 * s) : max(b, 2.0 * s - 1.0);
#elif MODE == 21
    return vivid_light(b, s) < 0.5 ? 0.0 : 1.0;
#elif MODE == 22
    return clamp(b - s, 0.0, 1.0);
#elif MODE == 23
    return s <= 0.0 ? 1.0 : min(1.0, b / s);
#elif MODE == 24
    return clamp(1.0 - (1.0 - b) / max(s, 1e-6), 0.0, 1.0);
#elif MODE == 25
    return clamp(b / max(1.0 - s, 1e-6), 0.0, 1.0);
#else
    return s;
#endif
}

vec3 blended(vec3 b, vec3 s) {
#if MODE == 12
    return set_lum(set_sat(s, sat_of(b)), lum(b));
#elif MODE == 13
    return set_lum(set_sat(b, sat_of(s)), lum(b));
#elif MODE == 14
    return set_lum(s, lum(b));
#elif MODE == 15
    return set_lum(b, lum(s));
#elif MODE == 27
    return lum(s) < lum(b) ? s : b;
#elif MODE == 28
    return lum(s) > lum(b) ? s : b;
#else
    return vec3(channel(b.r, s.r), channel(b.g, s.g), channel(b.b, s.b));
#endif
}
