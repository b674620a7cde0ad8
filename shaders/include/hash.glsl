// Integer hashes of the raster kernels (effects.md 6), exact in 32-bit whole numbers.
// The reference adds and multiplies in doubles and then wraps. The rounding of those doubles is reproduced here.
// Whole a and b stay below 2^22. A key (see effects/noise.py) is (its low 32 bits, the exponent of its last place).

// Number of bits of x, which is below 2^31: the exponent of a float. The second highest bit is cleared, so that no
// float rounds up.
int bit_length(uint x) {
    return x == 0u ? 0 : int(floatBitsToUint(float(int(x & ~(x >> 1)))) >> 23) - 126;
}

// x without its lowest bits, rounded half to even.
uint rounded_off(uint x, int bits) {
    if (bits <= 0) return x;
    uint unit = 1u << bits, rest = x & (unit - 1u), half_unit = unit >> 1;
    bool up = rest > half_unit || (rest == half_unit && (x & unit) != 0u);
    return x - rest + (up ? unit : 0u);
}

// Low 32 bits of double(n) * 1274126177, n signed.
uint wrapped_product(uint n) {
    const uint K = 1274126177u;
    bool negative = (n & 0x80000000u) != 0u;
    uint m = negative ? 0u - n : n;
    uint low = (m & 0xffffu) * (K & 0xffffu), high = (m >> 16) * (K >> 16);
    uint left = (m >> 16) * (K & 0xffffu), right = (m & 0xffffu) * (K >> 16);
    uint middle = (low >> 16) + (left & 0xffffu) + (right & 0xffffu);
    uint lo = (low & 0xffffu) | (middle << 16);
    uint hi = high + (left >> 16) + (right >> 16) + (middle >> 16);
    lo = rounded_off(lo, hi == 0u ? 0 : bit_length(hi) + 32 - 53);
    return negative ? 0u - lo : lo;
}

uint hash_sum(int a, int b, ivec2 key) {
    return rounded_off(uint(a) * 374761393u + uint(b) * 668265263u + uint(key.x), key.y);
}

// HA: logical shifts.
float hash_a(int a, int b, ivec2 key) {
    uint n = hash_sum(a, b, key);
    n = wrapped_product(n ^ (n >> 13));
    return float((n ^ (n >> 16)) >> 8) / 16777216.0;
}

// HB: arithmetic shifts. The value is the unsigned result over 2^32.
float hash_b(int a, int b, ivec2 key) {
    int n = int(hash_sum(a, b, key));
    n = int(wrapped_product(uint(n ^ (n >> 13))));
    return float(uint(n ^ (n >> 16)) >> 8) / 16777216.0;
}

// h2: HA without a key.
float h2(int a, int b) {
    return hash_a(a, b, ivec2(0));
}

// Value noise over a lattice of hashes: bilinear with eased weights.
float value_noise_a(vec2 p, ivec2 key) {
    vec2 corner = floor(p), t = p - corner;
    t = t * t * (3.0 - 2.0 * t);
    ivec2 c = ivec2(corner);
    return mix(
        mix(hash_a(c.x, c.y, key), hash_a(c.x + 1, c.y, key), t.x),
        mix(hash_a(c.x, c.y + 1, key), hash_a(c.x + 1, c.y + 1, key), t.x), t.y);
}

float value_noise_b(vec2 p, ivec2 key) {
    vec2 corner = floor(p), t = p - corner;
    t = t * t * (3.0 - 2.0 * t);
    ivec2 c = ivec2(corner);
    return mix(
        mix(hash_b(c.x, c.y, key), hash_b(c.x + 1, c.y, key), t.x),
        mix(hash_b(c.x, c.y + 1, key), hash_b(c.x + 1, c.y + 1, key), t.x), t.y);
}
