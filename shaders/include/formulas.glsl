// Small functions that effects share (effects.md 6).

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

// Angle of a vector, radians. GLSL does not define `atan` for the vector without a length.
float angle_of(vec2 v) {
    return v == vec2(0.0) ? 0.0 : atan(v.y, v.x);
}

// Whole part of a / b for positive b. Graphics cards round quotients, so floor(a / b) can be too small for multiples of b.
vec2 quotient(vec2 a, vec2 b) {
    vec2 found = floor(a / b);
    found -= vec2(lessThan(a, found * b));
    return found + vec2(greaterThanEqual(a, (found + 1.0) * b));
}

float quotient(float a, float b) {
    return quotient(vec2(a), vec2(b)).x;
}

// a modulo positive b: 0 for multiples of b.
vec2 remainder(vec2 a, vec2 b) {
    return a - quotient(a, b) * b;
}

vec2 direction(float degrees_) {
    return vec2(cos(radians(degrees_)), sin(radians(degrees_)));
}
