// Small functions that effects share (format/effects.md 6).

const float PI = 3.14159265358979;

float luma601(vec3 c) {
    return dot(c, vec3(0.299, 0.587, 0.114));
}

float luma709(vec3 c) {
    return dot(c, vec3(0.2126, 0.7152, 0.0722));
}

// t squared times (3 - 2t), t clamped: the `ss` of the formulas.
float eased(float t) {
    t = clamp(t, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// smoothstep that becomes a step if its edges meet or cross (effects.md 6).
float ramp(float low, float high, float x) {
    return high <= low ? step(low, x) : eased((x - low) / (high - low));
}

vec2 turned(vec2 v, float radians_) {
    float c = cos(radians_), s = sin(radians_);
    return vec2(c * v.x - s * v.y, s * v.x + c * v.y);
}

vec2 direction(float degrees_) {
    return vec2(cos(radians(degrees_)), sin(radians(degrees_)));
}
