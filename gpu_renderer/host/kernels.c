// Loops over the pixels of a frame, called by kernels.py. Integers only, so that every processor gives the same bytes.
// Pixels are RGBA, 8 bits, R in the lowest byte of a 32-bit word.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx2", "default")))  // chosen when the library is loaded
#else
#define VECTORS
#endif

enum { CHUNK = 1024 };  // columns at a time: their sums stay in the first cache

// Half floats of RGBA, `width` by `height` without padding, to opaque pixels: each of R, G and B by `levels`, which has an
// entry for each of the 65,536 patterns of a half float. `stride`: bytes from one row of the picture to the next.
void display_encode(const uint16_t *restrict scene, const uint8_t *restrict levels, uint8_t *restrict picture,
                    ptrdiff_t stride, int width, int height) {
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

// Y of BT.709 in 15 fractional bits, as in shaders/include/bt709.glsl.
VECTORS static void luma_codes(const uint32_t *restrict pixels, uint8_t *restrict codes, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t pixel = pixels[i];
        uint32_t code = 5983u * (pixel & 255) + 20127u * (pixel >> 8 & 255) + 2032u * (pixel >> 16 & 255);
        codes[i] = (uint8_t)((code + 540672u) >> 15);
    }
}

// Sums of the pixels of two rows: R and B in the halves of a word, G in another.
VECTORS static void column_sums(const uint32_t *restrict upper, const uint32_t *restrict lower,
                                uint32_t *restrict red_blue, uint32_t *restrict green, int count) {
    for (int i = 0; i < count; i++) {
        red_blue[i] = (upper[i] & 0xff00ffu) + (lower[i] & 0xff00ffu);
        green[i] = (upper[i] >> 8 & 255) + (lower[i] >> 8 & 255);
    }
}

// Pairs of Cb and Cr on every other column, weights 1 2 1 across; the sums begin one column to the left of the first pair.
VECTORS static void chroma_codes(const uint32_t *restrict red_blue, const uint32_t *restrict green,
                                 uint16_t *restrict pairs, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t both = red_blue[2 * i] + 2 * red_blue[2 * i + 1] + red_blue[2 * i + 2];
        int32_t r = both & 0xffff, g = (int32_t)(green[2 * i] + 2 * green[2 * i + 1] + green[2 * i + 2]);
        int32_t b = both >> 16;
        uint32_t cb = (uint32_t)(3598 * b - 824 * r - 2774 * g + 8421376) >> 16;
        uint32_t cr = (uint32_t)(3598 * r - 3268 * g - 330 * b + 8421376) >> 16;
        pairs[i] = (uint16_t)(cb | cr << 8);
    }
}

// The samples of columns [left, right) and rows [top, bottom) of a picture, all four even; a column or row past the edge of
// an odd size is its last one. Both planes have rows of `code_stride` bytes.
void nv12(const uint8_t *restrict picture, ptrdiff_t stride, int width, int height, uint8_t *restrict luma,
          uint8_t *restrict chroma, ptrdiff_t code_stride, int left, int top, int right, int bottom) {
    uint32_t red_blue[CHUNK + 2], green[CHUNK + 2];
    for (int y = top; y < bottom; y += 2) {
        const uint32_t *upper = (const uint32_t *)(picture + y * stride);
        const uint32_t *lower = (const uint32_t *)(picture + (y + 1 < height ? y + 1 : y) * stride);
        for (int x = left; x < right; x += CHUNK) {
            int count = right - x < CHUNK ? right - x : CHUNK;
            int held = x + count > width ? width - x : count;
            uint8_t *codes = luma + y * code_stride + x;
            luma_codes(upper + x, codes, held);
            luma_codes(lower + x, codes + code_stride, held);
            column_sums(upper + x, lower + x, red_blue + 1, green + 1, held);
            if (held < count) {
                codes[held] = codes[held - 1];
                codes[code_stride + held] = codes[code_stride + held - 1];
                red_blue[held + 1] = red_blue[held];
                green[held + 1] = green[held];
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
