// Kernels over the pixels of a frame, called by gpu_renderer/kernels/bindings.py. They use only integers, so that every processor
// gives the same bytes.
// Pixels are RGBA, 8 bits, R in the lowest byte of a 32-bit word.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { CHUNK = 1024 };  // columns at a time: their sums fit the L1 cache

// Convert half floats of RGBA, `width` by `height` without padding, to opaque pixels. `levels`: the byte of each of the 65,536
// patterns of a half float. `stride`: bytes from one row of the picture to the next.
void display_encode(const uint16_t *restrict scene, const uint8_t *restrict levels, uint8_t *restrict picture, ptrdiff_t stride,
                    int width, int height) {
    for (int y = 0; y < height; y++, scene += 4 * (ptrdiff_t)width, picture += stride) {
        for (int x = 0; x < width; x++) {
            uint64_t half;
            memcpy(&half, scene + 4 * x, sizeof half);
            uint32_t pixel = levels[half & 0xffff] | (uint32_t)levels[half >> 16 & 0xffff] << 8 |
                             (uint32_t)levels[half >> 32 & 0xffff] << 16 | 0xff000000u;
            memcpy(picture + 4 * x, &pixel, sizeof pixel);
        }
    }
}

// Codes of BT.709 with 15 fractional bits for Y and 16 for Cb and Cr, with the weights of shaders/include/bt709.glsl.
// The offsets are the code of black or of no colour, and half a code for rounding: 16.5 and 128.5.
enum { LUMA_OFFSET = 33 << 14, CHROMA_OFFSET = 257 << 15 };

// Write Y.
static void luma_codes(const uint32_t *restrict pixels, uint8_t *restrict codes, int count) {
    int i = 0;
#ifdef __AVX2__
    __m256i halves = _mm256_set1_epi32(0xff00ff), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i of_red_blue = _mm256_set1_epi32(2032 << 16 | 5983), of_green = _mm256_set1_epi32(20127);
    for (; i + 32 <= count; i += 32) {
        __m256i found[4];
        for (int j = 0; j < 4; j++) {
            __m256i some = _mm256_loadu_si256((const __m256i *)(pixels + i + 8 * j));
            __m256i red_blue = _mm256_madd_epi16(_mm256_and_si256(some, halves), of_red_blue);
            __m256i green = _mm256_madd_epi16(_mm256_and_si256(_mm256_srli_epi32(some, 8), halves), of_green);
            __m256i sum = _mm256_add_epi32(_mm256_add_epi32(red_blue, green), _mm256_set1_epi32(LUMA_OFFSET));
            found[j] = _mm256_srli_epi32(sum, 15);
        }
        __m256i first = _mm256_packus_epi32(found[0], found[1]), last = _mm256_packus_epi32(found[2], found[3]);
        __m256i all = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, last), order);
        _mm256_storeu_si256((__m256i *)(codes + i), all);
    }
#endif
    for (; i < count; i++) {
        uint32_t pixel = pixels[i];
        uint32_t code = 5983u * (pixel & 255) + 20127u * (pixel >> 8 & 255) + 2032u * (pixel >> 16 & 255);
        codes[i] = (uint8_t)((code + LUMA_OFFSET) >> 15);
    }
}

// Add the pixels of two rows: R and B in the halves of one word, G in another.
static void column_sums(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t *restrict red_blue,
                        uint32_t *restrict green, int count) {
    for (int i = 0; i < count; i++) {
        red_blue[i] = (upper[i] & 0xff00ffu) + (lower[i] & 0xff00ffu);
        green[i] = (upper[i] >> 8 & 255) + (lower[i] >> 8 & 255);
    }
}

#ifdef __AVX2__
// Return the weighted sums, 1 2 1, around every other one of sixteen columns: eight words.
static inline __m256i pair_sums_8(const uint32_t *sums) {
    __m256i found[2];
    for (int j = 0; j < 2; j++) {
        __m256i left = _mm256_loadu_si256((const __m256i *)(sums + 8 * j));
        __m256i own = _mm256_loadu_si256((const __m256i *)(sums + 8 * j + 1));
        __m256i right = _mm256_loadu_si256((const __m256i *)(sums + 8 * j + 2));
        found[j] = _mm256_add_epi32(_mm256_add_epi32(left, right), _mm256_slli_epi32(own, 1));
    }
    __m256 even = _mm256_shuffle_ps(_mm256_castsi256_ps(found[0]), _mm256_castsi256_ps(found[1]), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(even), 0xd8);
}

// Return eight codes of Cb or Cr. `of_red_blue`: weights of R in the lower half of a word, of B in the upper one.
static inline __m256i chroma_codes_8(__m256i red_blue, __m256i green, int of_red_blue, int of_green) {
    __m256i coloured = _mm256_madd_epi16(red_blue, _mm256_set1_epi32(of_red_blue));
    __m256i rest = _mm256_madd_epi16(green, _mm256_set1_epi32(of_green & 0xffff));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(coloured, rest), _mm256_set1_epi32(CHROMA_OFFSET)), 16);
}
#endif

// Write Cb and Cr of every second column from sums of two rows, with weights 1 2 1 across. The sums start one column to the left.
static void chroma_codes(const uint32_t *restrict red_blue, const uint32_t *restrict green, uint16_t *restrict pairs, int count) {
    int i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        __m256i both = pair_sums_8(red_blue + 2 * i), g = pair_sums_8(green + 2 * i);
        __m256i cb = chroma_codes_8(both, g, 3598 * 65536 + (-824 & 0xffff), -2774);
        __m256i cr = chroma_codes_8(both, g, -330 * 65536 + 3598, -3268);
        __m256i codes = _mm256_or_si256(cb, _mm256_slli_epi32(cr, 8));
        __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
        _mm_storeu_si128((__m128i *)(pairs + i), packed);
    }
#endif
    for (; i < count; i++) {
        uint32_t both = red_blue[2 * i] + 2 * red_blue[2 * i + 1] + red_blue[2 * i + 2];
        int32_t r = both & 0xffff, g = (int32_t)(green[2 * i] + 2 * green[2 * i + 1] + green[2 * i + 2]);
        int32_t b = both >> 16;
        uint32_t cb = (uint32_t)(3598 * b - 824 * r - 2774 * g + CHROMA_OFFSET) >> 16;
        uint32_t cr = (uint32_t)(3598 * r - 3268 * g - 330 * b + CHROMA_OFFSET) >> 16;
        pairs[i] = (uint16_t)(cb | cr << 8);
    }
}

// Convert columns [left, right) and rows [top, bottom) of a picture to NV12. All four are even; a column or row past the edge of an
// odd size repeats the last one. Rows of both planes are `code_stride` bytes apart.
void nv12(const uint8_t *restrict picture, ptrdiff_t stride, int width, int height, uint8_t *restrict luma,
          uint8_t *restrict chroma, ptrdiff_t code_stride, int left, int top, int right, int bottom) {
    uint32_t red_blue[CHUNK + 2], green[CHUNK + 2];
    for (int y = top; y < bottom; y += 2) {
        const uint32_t *upper = (const uint32_t *)(picture + y * stride);
        const uint32_t *lower = (const uint32_t *)(picture + (y + 1 < height ? y + 1 : y) * stride);
        for (int x = left; x < right; x += CHUNK) {
            int count = right - x < CHUNK ? right - x : CHUNK;
            int inside = x + count > width ? width - x : count;
            uint8_t *codes = luma + y * code_stride + x;
            luma_codes(upper + x, codes, inside);
            luma_codes(lower + x, codes + code_stride, inside);
            column_sums(upper + x, lower + x, red_blue + 1, green + 1, inside);
            if (inside < count) {
                codes[inside] = codes[inside - 1];
                codes[code_stride + inside] = codes[code_stride + inside - 1];
                red_blue[inside + 1] = red_blue[inside];
                green[inside + 1] = green[inside];
            }
            if (x > 0) {
                column_sums(upper + x - 1, lower + x - 1, red_blue, green, 1);
            } else {
                red_blue[0] = red_blue[1];
                green[0] = green[1];
            }
            chroma_codes(red_blue, green, (uint16_t *)(chroma + y / 2 * code_stride + x), count / 2);
        }
    }
}

// A decoded 4:2:0 frame of even size. Rows of Y are `luma_stride` bytes apart, rows of Cb and Cr `chroma_stride`.
struct footage {
    const uint8_t *y;
    ptrdiff_t luma_stride;
    const uint8_t *cb, *cr;
    ptrdiff_t chroma_stride;
    int width, height;
};

static void interleave_row(const uint8_t *restrict blue, const uint8_t *restrict red, uint8_t *restrict both, int count) {
    for (int i = 0; i < count; i++) {
        both[2 * i] = blue[i];
        both[2 * i + 1] = red[i];
    }
}

// Write a frame's planes as NV12. Rows of both planes are `stride` bytes apart.
void interleave(const struct footage *frame, uint8_t *restrict luma, uint8_t *restrict chroma, ptrdiff_t stride) {
    for (int row = 0; row < frame->height; row++) {
        memcpy(luma + row * stride, frame->y + row * frame->luma_stride, (size_t)frame->width);
    }
    for (int row = 0; row < frame->height / 2; row++) {
        ptrdiff_t own = row * frame->chroma_stride;
        interleave_row(frame->cb + own, frame->cr + own, chroma + row * stride, frame->width / 2);
    }
}

// Interpolate chroma between two rows, in quarters.
static void blend_chroma_rows(const uint8_t *restrict near, const uint8_t *restrict far, uint16_t *restrict quarters, int count) {
    for (int i = 0; i < count; i++) {
        quarters[i] = (uint16_t)(3 * near[i] + far[i]);
    }
}

// Interpolate two columns of chroma from each column, in sixteenths. The quarters start one column to the left.
static void upsample_chroma_row(const uint16_t *restrict quarters, uint16_t *restrict sixteenths, int count) {
    for (int i = 0; i < count; i++) {
        sixteenths[2 * i] = (uint16_t)(quarters[i] + 3 * quarters[i + 1]);
        sixteenths[2 * i + 1] = (uint16_t)(3 * quarters[i + 1] + quarters[i + 2]);
    }
}

static inline uint32_t colour_code(uint32_t sum) {
    int32_t signed_sum = (int32_t)sum;
    int32_t code = (signed_sum < 0 ? 0 : signed_sum) >> 22;
    return (uint32_t)(code > 255 ? 255 : code);
}

#ifdef __AVX2__
// Repeat two weights of 16 bits in each word.
static inline __m256i weight_pairs(int32_t lower, int32_t upper) {
    return _mm256_set1_epi32((int32_t)((uint32_t)(lower & 0xffff) | (uint32_t)upper << 16));
}

// Return the codes of a channel for eight pixels in each half, from their weighted sums without the 5 lowest fractional bits.
static inline __m256i channel_codes_16(__m256i first, __m256i last, uint32_t base) {
    __m256i bases = _mm256_set1_epi32((int32_t)base);
    first = _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(first, 5), bases), 22);
    last = _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(last, 5), bases), 22);
    return _mm256_packs_epi32(first, last);
}

// Like `convert_row`, for sixteen pixels. Weights of Y are multiples of 2^9, those of chroma of 2^5, so they fit 16 bits.
static inline void convert_16(const uint8_t *y, const uint16_t *cb, const uint16_t *cr, const uint32_t *restrict weights,
                              uint32_t *pixels) {
    int32_t of_y = (int32_t)weights[0] >> 9, r_of_cr = (int32_t)weights[1] >> 5, g_of_cr = (int32_t)weights[2] >> 5,
            g_of_cb = (int32_t)weights[3] >> 5, b_of_cb = (int32_t)weights[4] >> 5;
    __m256i grey = _mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)y)), 4);
    __m256i blue = _mm256_loadu_si256((const __m256i *)cb), red = _mm256_loadu_si256((const __m256i *)cr), codes[3];
    __m256i with_red[2] = {_mm256_unpacklo_epi16(grey, red), _mm256_unpackhi_epi16(grey, red)};
    __m256i with_blue[2] = {_mm256_unpacklo_epi16(grey, blue), _mm256_unpackhi_epi16(grey, blue)}, sums[3][2];
    for (int i = 0; i < 2; i++) {
        sums[0][i] = _mm256_madd_epi16(with_red[i], weight_pairs(of_y, r_of_cr));
        sums[1][i] = _mm256_add_epi32(_mm256_madd_epi16(with_red[i], weight_pairs(of_y, g_of_cr)),
                                      _mm256_madd_epi16(with_blue[i], weight_pairs(0, g_of_cb)));
        sums[2][i] = _mm256_madd_epi16(with_blue[i], weight_pairs(of_y, b_of_cb));
    }
    for (int i = 0; i < 3; i++) codes[i] = channel_codes_16(sums[i][0], sums[i][1], weights[5 + i]);
    __m256i red_blue = _mm256_packus_epi16(codes[0], codes[2]);
    __m256i green_alpha = _mm256_packus_epi16(codes[1], _mm256_set1_epi16(255));
    __m256i red_green = _mm256_unpacklo_epi8(red_blue, green_alpha), blue_alpha = _mm256_unpackhi_epi8(red_blue, green_alpha);
    __m256i even = _mm256_unpacklo_epi16(red_green, blue_alpha), odd = _mm256_unpackhi_epi16(red_green, blue_alpha);
    _mm256_storeu_si256((__m256i *)pixels, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(pixels + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}
#endif

static void convert_row(const uint8_t *restrict y, const uint16_t *restrict cb, const uint16_t *restrict cr,
                        const uint32_t *restrict weights, uint32_t *restrict pixels, int count) {
    uint32_t of_y = weights[0], r_of_cr = weights[1], g_of_cr = weights[2], g_of_cb = weights[3], b_of_cb = weights[4];
    uint32_t r_base = weights[5], g_base = weights[6], b_base = weights[7];
    int i = 0;
#ifdef __AVX2__
    for (; i + 16 <= count; i += 16) convert_16(y + i, cb + i, cr + i, weights, pixels + i);
#endif
    for (; i < count; i++) {
        uint32_t grey = of_y * y[i];
        uint32_t r = colour_code(grey + r_of_cr * cr[i] + r_base);
        uint32_t g = colour_code(grey + g_of_cr * cr[i] + g_of_cb * cb[i] + g_base);
        uint32_t b = colour_code(grey + b_of_cb * cb[i] + b_base);
        pixels[i] = r | g << 8 | b << 16 | 0xff000000u;
    }
}

// Interpolate a plane's chroma for `count` columns of pixels from `left` on, an even one, in sixteenths. `columns`: of the plane,
// whose edges are repeated.
static void chroma_row(const uint8_t *restrict near, const uint8_t *restrict far, int columns, int left,
                       uint16_t *restrict sixteenths, int count) {
    uint16_t quarters[CHUNK / 2 + 2];
    int first = left / 2 - 1, end = (left + count + 1) / 2 + 1;
    int inside_first = first < 0 ? 0 : first, inside_end = end > columns ? columns : end;
    blend_chroma_rows(near + inside_first, far + inside_first, quarters + (inside_first - first), inside_end - inside_first);
    if (inside_first > first) quarters[0] = quarters[1];
    if (inside_end < end) quarters[end - first - 1] = quarters[end - first - 2];
    upsample_chroma_row(quarters, sixteenths, (count + 1) / 2);
}

// Convert columns [left, right) of a row of a frame to opaque pixels. Chroma is sited in the middle of each block of four pixels.
// `weights`: `Weights` of gpu_renderer/geometry/samples.py.
static void colour_row(const struct footage *frame, const uint32_t *restrict weights, int row, int left, int right,
                       uint32_t *restrict pixels) {
    uint16_t blue[CHUNK + 2], red[CHUNK + 2];
    int beside = row % 2 ? row / 2 + 1 : row / 2 - 1;
    beside = beside < 0 ? 0 : beside < frame->height / 2 ? beside : frame->height / 2 - 1;
    ptrdiff_t near = row / 2 * frame->chroma_stride, far = beside * frame->chroma_stride;
    for (int x = left, count; x < right; x += count) {
        int odd = x % 2;
        count = right - x < CHUNK - odd ? right - x : CHUNK - odd;
        chroma_row(frame->cb + near, frame->cb + far, frame->width / 2, x - odd, blue, count + odd);
        chroma_row(frame->cr + near, frame->cr + far, frame->width / 2, x - odd, red, count + odd);
        convert_row(frame->y + row * frame->luma_stride + x, blue + odd, red + odd, weights, pixels + (x - left), count);
    }
}

// Convert columns [left, right) and rows [top, bottom) of a frame to opaque pixels without padding.
void colour_decode(const struct footage *frame, const uint32_t *restrict weights, uint32_t *restrict pixels, int left, int top,
                   int right, int bottom) {
    for (int row = top; row < bottom; row++, pixels += right - left) {
        colour_row(frame, weights, row, left, right, pixels);
    }
}

// Interpolate two opaque pixels. `weight`: of the second one, in 256ths.
static inline uint32_t lerp_pixel(uint32_t one, uint32_t other, uint32_t weight) {
    uint32_t red_blue = (one & 0xff00ffu) * (256 - weight) + (other & 0xff00ffu) * weight + 0x800080u;
    uint32_t green = (one >> 8 & 255) * (256 - weight) + (other >> 8 & 255) * weight + 128;
    return (red_blue >> 8 & 0xff00ffu) | (green & 0xff00u) | 0xff000000u;
}

#ifdef __AVX2__
// Interpolate eight pixels. `weights`: of the other ones, in both halves of each word.
static inline __m256i lerp_8_pixels(__m256i ones, __m256i others, __m256i weights) {
    __m256i lower = _mm256_set1_epi16(0xff), round = _mm256_set1_epi16(128);
    __m256i even = _mm256_and_si256(ones, lower), odd = _mm256_srli_epi16(ones, 8);
    __m256i even_steps = _mm256_mullo_epi16(_mm256_sub_epi16(_mm256_and_si256(others, lower), even), weights);
    __m256i odd_steps = _mm256_mullo_epi16(_mm256_sub_epi16(_mm256_srli_epi16(others, 8), odd), weights);
    even = _mm256_add_epi16(_mm256_add_epi16(_mm256_slli_epi16(even, 8), even_steps), round);
    odd = _mm256_add_epi16(_mm256_add_epi16(_mm256_andnot_si256(lower, ones), odd_steps), round);
    return _mm256_or_si256(_mm256_srli_epi16(even, 8), _mm256_andnot_si256(lower, odd));
}

// Read two neighbours each of columns i, i + 1, i + 4 and i + 5.
static inline __m256i read_pairs(const uint32_t *row, const int32_t *columns) {
    __m128i found[4];
    for (int i = 0; i < 4; i++) found[i] = _mm_loadl_epi64((const __m128i *)(row + columns[i < 2 ? i : i + 2]));
    return _mm256_set_m128i(_mm_unpacklo_epi64(found[2], found[3]), _mm_unpacklo_epi64(found[0], found[1]));
}
#endif

static void filter_columns(const uint32_t *restrict row, const int32_t *restrict columns, const int32_t *restrict weights,
                           uint32_t *restrict pixels, int count) {
    int i = 0;
#ifdef __AVX2__
    for (; i + 8 <= count; i += 8) {
        __m256 first = _mm256_castsi256_ps(read_pairs(row, columns + i)), last = _mm256_castsi256_ps(read_pairs(row, columns + i + 2));
        __m256i own = _mm256_loadu_si256((const __m256i *)(weights + i));
        __m256i ones = _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0x88));
        __m256i others = _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0xdd));
        own = _mm256_or_si256(own, _mm256_slli_epi32(own, 16));
        _mm256_storeu_si256((__m256i *)(pixels + i), lerp_8_pixels(ones, others, own));
    }
#endif
    for (; i < count; i++) pixels[i] = lerp_pixel(row[columns[i]], row[columns[i] + 1], (uint32_t)weights[i]);
}

static void filter_rows(const uint32_t *restrict upper, const uint32_t *restrict lower, uint32_t weight, uint32_t *restrict pixels,
                        int count) {
    int i = 0;
#ifdef __AVX2__
    __m256i weights = _mm256_set1_epi16((short)weight);
    for (; i + 8 <= count; i += 8) {
        __m256i ones = _mm256_loadu_si256((const __m256i *)(upper + i)), others = _mm256_loadu_si256((const __m256i *)(lower + i));
        _mm256_storeu_si256((__m256i *)(pixels + i), lerp_8_pixels(ones, others, weights));
    }
#endif
    for (; i < count; i++) pixels[i] = lerp_pixel(upper[i], lower[i], weight);
}

// Filter taps of each column or row: a texel that is not the last one, and the weight of the next one in 256ths.
struct filter_taps {
    const int32_t *first, *weight;
    int count;
};

// Resample a frame, or opaque `pixels` without padding if it has no samples, with a bilinear filter of 8 bits: columns first, each
// step rounded. `scratch`: room for a row of the frame and two of the picture. `stride`: bytes from one row of the picture to the
// next.
void resample(const struct footage *frame, const uint32_t *restrict weights, const uint32_t *restrict pixels,
              const struct filter_taps *columns, const struct filter_taps *rows, uint32_t *restrict scratch,
              uint8_t *restrict picture, ptrdiff_t stride) {
    uint32_t *source = scratch, *filtered[2] = {scratch + frame->width, scratch + frame->width + columns->count};
    int numbers[2] = {-1, -1};
    for (int y = 0; y < rows->count; y++) {
        int wanted[2] = {rows->first[y], rows->first[y] + 1}, slots[2];
        for (int i = 0; i < 2; i++) {
            int slot = numbers[0] == wanted[i] ? 0 : numbers[1] == wanted[i] ? 1 : -1;
            if (slot < 0) {
                slot = i == 0 ? numbers[0] == wanted[1] : 1 - slots[0];  // use the buffer that does not contain the other row
                const uint32_t *row = pixels + (ptrdiff_t)wanted[i] * frame->width;
                if (frame->y) {
                    colour_row(frame, weights, wanted[i], 0, frame->width, source);
                    row = source;
                }
                filter_columns(row, columns->first, columns->weight, filtered[slot], columns->count);
                numbers[slot] = wanted[i];
            }
            slots[i] = slot;
        }
        filter_rows(filtered[slots[0]], filtered[slots[1]], (uint32_t)rows->weight[y], (uint32_t *)(picture + y * stride),
                    columns->count);
    }
}
