// The blend functions B(b, s) of compositing.md 3.2 in linear light; b backdrop, s source. MODE selects one; 0 is normal.
// The backdrop is stored multiplied by its alpha a, and so is the result: a B(b / a, s). The source is straight.

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

float color_dodge(float b, float a, float s) {
    return b <= 0.0 ? 0.0 : s >= 1.0 ? a : min(a, b / (1.0 - s));
}

float color_burn(float b, float a, float s) {
    return b >= a ? a : s <= 0.0 ? 0.0 : a - min(a, (a - b) / s);
}

float soft_light(float b, float a, float s) {
    float c = b / max(a, 1.0 / 255.0);
    float g = c <= 0.25 ? ((16.0 * c - 12.0) * c + 4.0) * c : sqrt(c);
    return s <= 0.5 ? b - (1.0 - 2.0 * s) * b * (1.0 - c) : b + (2.0 * s - 1.0) * (a * g - b);
}

float vivid_light(float b, float a, float s) {
    if (s <= 0.5) {
        float d = 2.0 * s;
        return d <= 0.0 ? 0.0 : a - min(a, (a - b) / d);
    }
    float d = 2.0 * (s - 0.5);
    return d >= 1.0 ? a : min(a, b / (1.0 - d));
}

float channel(float b, float a, float s) {
#if MODE == 1  // multiply
    return b * s;
#elif MODE == 2  // screen
    return b + a * s - b * s;
#elif MODE == 3  // overlay
    return 2.0 * b <= a ? 2.0 * b * s : a - 2.0 * (a - b) * (1.0 - s);
#elif MODE == 4  // darken
    return min(b, a * s);
#elif MODE == 5  // lighten
    return max(b, a * s);
#elif MODE == 6  // color-dodge
    return color_dodge(b, a, s);
#elif MODE == 7  // color-burn
    return color_burn(b, a, s);
#elif MODE == 8  // hard-light
    return s <= 0.5 ? 2.0 * b * s : a - 2.0 * (a - b) * (1.0 - s);
#elif MODE == 9  // soft-light
    return soft_light(b, a, s);
#elif MODE == 10 || MODE == 26  // difference, classic-difference
    return abs(b - a * s);
#elif MODE == 11  // exclusion
    return b + a * s - 2.0 * b * s;
#elif MODE == 16  // linear-burn
    return clamp(b + a * s - a, 0.0, a);
#elif MODE == 17  // linear-dodge
    return clamp(b + a * s, 0.0, a);
#elif MODE == 18  // linear-light
    return clamp(b + 2.0 * a * s - a, 0.0, a);
#elif MODE == 19  // vivid-light
    return vivid_light(b, a, s);
#elif MODE == 20  // pin-light
    return s <= 0.5 ? min(b, 2.0 * a * s) : max(b, a * (2.0 * s - 1.0));
#elif MODE == 21  // hard-mix
    return vivid_light(b, a, s) < 0.5 * a ? 0.0 : a;
#elif MODE == 22  // subtract
    return clamp(b - a * s, 0.0, a);
#elif MODE == 23  // divide
    return s <= 0.0 ? a : min(a, b / s);
#elif MODE == 24  // classic-color-burn
    return clamp(a - (a - b) / max(s, 1e-6), 0.0, a);
#elif MODE == 25  // classic-color-dodge
    return clamp(b / max(1.0 - s, 1e-6), 0.0, a);
#else
    return a * s;
#endif
}

vec3 blended(vec4 backdrop, vec3 s) {
    float a = backdrop.a;
#if MODE >= 12 && MODE <= 15 || MODE == 27 || MODE == 28
    vec3 b = backdrop.rgb / max(a, 1.0 / 255.0);
#endif
#if MODE == 12  // hue
    return a * set_lum(set_sat(s, sat_of(b)), lum(b));
#elif MODE == 13  // saturation
    return a * set_lum(set_sat(b, sat_of(s)), lum(b));
#elif MODE == 14  // color
    return a * set_lum(s, lum(b));
#elif MODE == 15  // luminosity
    return a * set_lum(b, lum(s));
#elif MODE == 27  // darker-color
    return a * (lum(s) < lum(b) ? s : b);
#elif MODE == 28  // lighter-color
    return a * (lum(s) > lum(b) ? s : b);
#else
    return vec3(channel(backdrop.r, a, s.r), channel(backdrop.g, a, s.g), channel(backdrop.b, a, s.b));
#endif
}
