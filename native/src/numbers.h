// Number formats of composite.c: single floats, rounded to half floats after each operation.

#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { CHUNK = 512 };  // columns of a strip: its working memory fits the L1 cache

// Columns that are shaded at once. The last columns of a loop, one by one, take as long as many vectors. Without AVX2 texels are
// read one by one, so only the pairs that a shape's edge needs are completed.
#ifdef __AVX2__
enum { COLUMNS_AT_ONCE = 8 };
#else
enum { COLUMNS_AT_ONCE = 2 };
#endif

// Round a count of columns up to whole vectors.
INLINE int whole_vectors(int count) { return (count + COLUMNS_AT_ONCE - 1) & -COLUMNS_AT_ONCE; }

#define HALF_MIN 6.103515625e-05f  // smallest normal half float
#define HALF_STEPS 16777216.0f     // subnormal half floats are multiples of 1 / HALF_STEPS

INLINE uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

// Return one of two words without a branch, so that the compiler can vectorise the loop.
INLINE uint32_t select_bits(int is_first, uint32_t first, uint32_t second) {
    uint32_t mask = -(uint32_t)is_first;
    return (first & mask) | (second & ~mask);
}

INLINE float select_float(int is_first, float first, float second) {
    return float_of(select_bits(is_first, bits_of(first), bits_of(second)));
}

INLINE float clamp(float number, float least, float most) { return fminf(fmaxf(number, least), most); }

// Round a number of 0 to 1 to 8 bits: `to_8_bits` of shaders/include/color.glsl.
INLINE float to_8_bits(float number) { return floorf(clamp(number, 0.0f, 1.0f) * 255.0f + 0.5f) / 255.0f; }

INLINE int32_t clamp_index(int32_t texel, int32_t count) {
    int32_t last = count - 1;
    texel = texel < 0 ? 0 : texel;
    return texel < last ? texel : last;
}

// Round a number toward zero to a half float.
INLINE float truncate_to_half(float number) {
#ifdef __F16C__
    return _cvtsh_ss(_cvtss_sh(number, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
    int is_small = (bits_of(number) & 0x7fffffffu) < bits_of(HALF_MIN);
    float small = (float)(int32_t)(select_float(is_small, number, 0.0f) * HALF_STEPS) * (1.0f / HALF_STEPS);
    return select_float(is_small, small, float_of(bits_of(number) & ~0x1fffu));
#endif
}

// Return the bit pattern of a number that is a half float.
INLINE uint16_t half_pattern(float half) {
    uint32_t bits = bits_of(half), size = bits & 0x7fffffffu;
    int is_small = size < bits_of(HALF_MIN);
    uint32_t small = (uint32_t)(int32_t)(float_of(select_bits(is_small, size, 0)) * HALF_STEPS);
    uint32_t pattern = select_bits(is_small, small, (size >> 13) - (112u << 10));
    return (uint16_t)(pattern | (bits >> 16 & 0x8000u));
}

INLINE float float_of_half(uint16_t pattern) {
    float size = float_of((uint32_t)(pattern & 0x7fff) << 13) * 5.192296858534828e33f;  // 2^112
    return float_of(bits_of(size) | (uint32_t)(pattern & 0x8000) << 16);
}

static void truncate_to_halves(float *restrict numbers, int count) {
    int i = 0;
#ifdef __F16C__
    for (; i + 8 <= count; i += 8) {
        __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(numbers + i), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        _mm256_storeu_ps(numbers + i, _mm256_cvtph_ps(halves));
    }
#endif
    for (; i < count; i++) numbers[i] = truncate_to_half(numbers[i]);
}

static void write_half_patterns(const float *restrict halves, uint16_t *restrict patterns, int count) {
    int i = 0;
#ifdef __F16C__
    for (; i + 8 <= count; i += 8) {
        __m128i found = _mm256_cvtps_ph(_mm256_loadu_ps(halves + i), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        _mm_storeu_si128((__m128i *)(patterns + i), found);
    }
#endif
    for (; i < count; i++) patterns[i] = half_pattern(halves[i]);
}

// Write opaque RGBA pixels of half floats from the patterns of three channels.
static void opaque_halves(const uint16_t *restrict red, const uint16_t *restrict green, const uint16_t *restrict blue,
                          uint8_t *restrict pixels, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t pixel = red[i] | (uint64_t)green[i] << 16 | (uint64_t)blue[i] << 32 | (uint64_t)0x3c00 << 48;
        memcpy(pixels + 8 * (ptrdiff_t)i, &pixel, sizeof pixel);
    }
}

static void read_half_patterns(const uint16_t *restrict patterns, float *restrict numbers, int count) {
    int i = 0;
#ifdef __F16C__
    for (; i + 8 <= count; i += 8) {
        _mm256_storeu_ps(numbers + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(patterns + i))));
    }
#endif
    for (; i < count; i++) numbers[i] = float_of_half(patterns[i]);
}

// Return c / 12.92, correctly rounded, without a division, which would take as long as the rest of `linear_of`. Tested for every
// float that is not 0 as a half float.
INLINE float linear_of_dark(float c) {
#ifdef __FMA__
    const float share = 1.0f / 12.92f;
    float near = c * share;
    return fmaf(fmaf(-near, 12.92f, c), share, near);
#else
    return c / 12.92f;
#endif
}

#define DARK_END 0.04045f  // encoded colours below it are dark

// Decode a straight colour: `srgb_to_linear` of shaders/include/color.glsl.
INLINE float linear_of(float c) {
    float square = c * c, high = (c * 0.0830104553f - 0.299013667f) * square + (c * 0.661667547f + 0.520807502f);
    float curve = high * square + (c * 0.0326089217f + 0.000920741187f);
    return select_float(c >= DARK_END, curve, linear_of_dark(c));
}

// Encode a straight linear colour: `linear_to_srgb` of shaders/include/color.glsl.
INLINE float encoded_of(float c) {
    float root = sqrtf(fmaxf(c, 0.0f)), fourth_root = sqrtf(root);
    float curve = (1.11754013f * root + (0.0784710667f * c - 0.0648011928f)) + fourth_root * (0.197816495f - 0.3290263f * root);
    return select_float(c >= 0.0031308f, curve, 12.92f * c);
}

#ifdef __AVX2__
// Decode eight colours like `linear_of`. Most vectors contain no dark colour and skip its formula.
INLINE __m256 linear_of_8(__m256 c) {
    __m256 square = _mm256_mul_ps(c, c);
    __m256 high = _mm256_sub_ps(_mm256_mul_ps(c, _mm256_set1_ps(0.0830104553f)), _mm256_set1_ps(0.299013667f));
    __m256 low = _mm256_add_ps(_mm256_mul_ps(c, _mm256_set1_ps(0.661667547f)), _mm256_set1_ps(0.520807502f));
    __m256 rest = _mm256_add_ps(_mm256_mul_ps(c, _mm256_set1_ps(0.0326089217f)), _mm256_set1_ps(0.000920741187f));
    __m256 curve = _mm256_add_ps(_mm256_mul_ps(_mm256_add_ps(_mm256_mul_ps(high, square), low), square), rest);
    __m256 is_dark = _mm256_cmp_ps(c, _mm256_set1_ps(DARK_END), _CMP_LT_OQ);
    if (!_mm256_movemask_ps(is_dark)) return curve;
    __m256 share = _mm256_set1_ps(1.0f / 12.92f), near = _mm256_mul_ps(c, share);
    __m256 dark = _mm256_fmadd_ps(_mm256_fnmadd_ps(near, _mm256_set1_ps(12.92f), c), share, near);
    return _mm256_blendv_ps(curve, dark, is_dark);
}
#endif

// Decode straight colours, after multiplying them by a gain.
static void decode_srgb(float *restrict colours, float gain, int count) {
    int i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        __m256 some = _mm256_mul_ps(_mm256_loadu_ps(colours + i), _mm256_set1_ps(gain));
        _mm256_storeu_ps(colours + i, linear_of_8(some));
    }
#endif
    for (; i < count; i++) colours[i] = linear_of(colours[i] * gain);
}

static void encode_srgb(float *restrict colours, int count) {
    for (int i = 0; i < count; i++) colours[i] = encoded_of(colours[i]);
}

static void fill(float *restrict numbers, float number, int count) {
    for (int i = 0; i < count; i++) numbers[i] = number;
}

static void multiply_all(float *restrict numbers, float by, int count) {
    for (int i = 0; i < count; i++) numbers[i] *= by;
}

static void subtract_from_all(float *restrict numbers, float by, int count) {
    for (int i = 0; i < count; i++) numbers[i] -= by;
}

#endif
