// Windows over the straight or premultiplied bytes of a layer's canvas, called by gpu_renderer/kernels/windows.py: means and
// extremes along an axis, medians by bisection. Pixels are RGBA, 8 bits, rows without padding. Every processor gives the same
// bytes: integers, and single floats that no step contracts.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX2__
enum { BLOCK = 8 };  // pixels in a vector register: the compiler turns wider vectors into scalar code
#else
enum { BLOCK = 4 };
#endif
enum { STRIP = 64, COUNT_MAX = 255 };  // columns of pixels; taps that a byte can count
enum operation { MEAN, LARGEST, SMALLEST, WEIGHTED_MEAN };
typedef uint8_t bytes __attribute__((vector_size(4 * BLOCK)));

// `byte_count` bytes from `first` on and `gap` bytes further: write the larger or the smaller of both.
static void pick_extreme(const uint8_t *restrict first, ptrdiff_t gap, uint8_t *restrict found, ptrdiff_t byte_count,
                         int is_largest) {
    const uint8_t *second = first + gap;
    if (is_largest) {
        for (ptrdiff_t i = 0; i < byte_count; i++) found[i] = first[i] > second[i] ? first[i] : second[i];
    } else {
        for (ptrdiff_t i = 0; i < byte_count; i++) found[i] = first[i] < second[i] ? first[i] : second[i];
    }
}

// Find the extremes of `length` positions of `position_bytes` bytes each, for `count` positions: windows that double. Both buffers
// hold count + length - 1 positions, and the first one the padded line. Returns the buffer with the result.
static uint8_t *window_extremes(uint8_t *padded_line, uint8_t *other, int count, int length, int position_bytes, int is_largest) {
    int have = 1, left = count + length - 1;
    while (have < length) {
        int step = have < length - have ? have : length - have;
        left -= step;
        pick_extreme(padded_line, (ptrdiff_t)step * position_bytes, other, (ptrdiff_t)left * position_bytes, is_largest);
        uint8_t *swapped = padded_line;
        padded_line = other;
        other = swapped;
        have += step;
    }
    return padded_line;
}

// Write sliding means of `length` positions, rounded to the nearest: no tie is possible for an odd length.
static void line_means(const uint8_t *restrict padded_line, uint8_t *restrict found, int count, int length, int position_bytes) {
    uint32_t sums[4 * STRIP] = {0};
    float share = 1.0f / (float)length;
    for (int p = 0; p < length - 1; p++) {
        for (int i = 0; i < position_bytes; i++) sums[i] += padded_line[(ptrdiff_t)p * position_bytes + i];
    }
    for (int p = 0; p < count; p++) {
        const uint8_t *oldest = padded_line + (ptrdiff_t)p * position_bytes,
                      *newest = oldest + (ptrdiff_t)(length - 1) * position_bytes;
        uint8_t *mean = found + (ptrdiff_t)p * position_bytes;
        for (int i = 0; i < position_bytes; i++) {
            sums[i] += newest[i];
            mean[i] = (uint8_t)(int32_t)((float)(int32_t)sums[i] * share + 0.5f);
            sums[i] -= oldest[i];
        }
    }
}

// Write the means of single pixels, whose four sums stay in registers.
static void pixel_means(const uint8_t *restrict padded_line, uint8_t *restrict found, int count, int length) {
    uint32_t sums[4] = {0};
    float share = 1.0f / (float)length;
    for (int p = 0; p < length - 1; p++) {
        for (int c = 0; c < 4; c++) sums[c] += padded_line[4 * (ptrdiff_t)p + c];
    }
    for (int p = 0; p < count; p++) {
        const uint8_t *oldest = padded_line + 4 * (ptrdiff_t)p, *newest = oldest + 4 * (ptrdiff_t)(length - 1);
        for (int c = 0; c < 4; c++) {
            sums[c] += newest[c];
            found[4 * (ptrdiff_t)p + c] = (uint8_t)(int32_t)((float)(int32_t)sums[c] * share + 0.5f);
            sums[c] -= oldest[c];
        }
    }
}

// Round to the nearest integer, ties to even. x is 0 to 255.5. After adding 1.5 * 2^23, a float has no bits for a fraction.
static uint8_t nearest(float x) { return (uint8_t)(int32_t)(x + 12582912.0f - 12582912.0f); }

static void add_weighted(const uint8_t *restrict pixels, uint32_t *restrict sums, int position_bytes, uint32_t sign) {
    for (int i = 0; i < position_bytes; i += 4) {
        uint32_t alpha = sign * pixels[i + 3];
        for (int c = 0; c < 3; c++) sums[i + c] += alpha * pixels[i + c];
        sums[i + 3] += alpha;
    }
}

// Write sliding means of straight pixels, whose colours are weighted by alpha. At most 2^15 positions.
static void weighted_means(const uint8_t *restrict padded_line, uint8_t *restrict found, int count, int length,
                           int position_bytes) {
    uint32_t sums[4 * STRIP] = {0};
    for (int p = 0; p < length - 1; p++) add_weighted(padded_line + (ptrdiff_t)p * position_bytes, sums, position_bytes, 1);
    for (int p = 0; p < count; p++) {
        const uint8_t *oldest = padded_line + (ptrdiff_t)p * position_bytes;
        uint8_t *mean = found + (ptrdiff_t)p * position_bytes;
        add_weighted(oldest + (ptrdiff_t)(length - 1) * position_bytes, sums, position_bytes, 1);
        for (int i = 0; i < position_bytes; i += 4) {
            float alpha = (float)(int32_t)(sums[i + 3] ? sums[i + 3] : 1);
            for (int c = 0; c < 3; c++) mean[i + c] = nearest((float)(int32_t)sums[i + c] / alpha);
            mean[i + 3] = nearest((float)(int32_t)sums[i + 3] / (float)length);
        }
        add_weighted(oldest, sums, position_bytes, -1u);
    }
}

// Copy `count` positions of `position_bytes` bytes, `stride` bytes apart, with `margin` positions on both sides: the edge repeated,
// or 0.
static void pad_line(const uint8_t *restrict line, ptrdiff_t stride, int count, int position_bytes, int margin, int repeats_edge,
                     uint8_t *restrict padded_line) {
    uint8_t *own = padded_line + (ptrdiff_t)margin * position_bytes, *beyond = own + (ptrdiff_t)count * position_bytes;
    if (stride == position_bytes) {
        memcpy(own, line, (size_t)count * position_bytes);
    } else {
        for (int p = 0; p < count; p++) memcpy(own + (ptrdiff_t)p * position_bytes, line + p * stride, (size_t)position_bytes);
    }
    for (int p = 0; p < margin; p++) {
        if (repeats_edge) {
            memcpy(padded_line + (ptrdiff_t)p * position_bytes, own, (size_t)position_bytes);
            memcpy(beyond + (ptrdiff_t)p * position_bytes, beyond - position_bytes, (size_t)position_bytes);
        } else {
            memset(padded_line + (ptrdiff_t)p * position_bytes, 0, (size_t)position_bytes);
            memset(beyond + (ptrdiff_t)p * position_bytes, 0, (size_t)position_bytes);
        }
    }
}

static void store(const uint8_t *restrict found, uint8_t *restrict line, const uint8_t *restrict channels, int position_bytes) {
    for (int i = 0; i < position_bytes; i++) line[i] = (uint8_t)((found[i] & channels[i & 3]) | (line[i] & ~channels[i & 3]));
}

// Replace the chosen channels (255, others 0) of pixels by the mean or an extreme of 2 margin + 1 px along an axis (0 is across).
// Computes the lines [first, last) of `width` x `height` px: rows for axis 0, columns for axis 1.
// `room`: twice 4 * STRIP bytes for each position and its margins.
void window(uint8_t *pixels, int width, int height, int axis, int margin, int operation, int repeats_edge, const uint8_t *channels,
            int first, int last, uint8_t *room) {
    ptrdiff_t row = 4 * (ptrdiff_t)width;
    int count = axis ? height : width, length = 2 * margin + 1, step = axis ? STRIP : 1;
    for (int line = first; line < last; line += step) {
        int position_bytes = 4 * (last - line < step ? last - line : step);
        uint8_t *own = pixels + (axis ? 4 * (ptrdiff_t)line : row * line), *found;
        ptrdiff_t stride = axis ? row : 4;
        uint8_t *other = room + (ptrdiff_t)(count + 2 * margin) * position_bytes;
        pad_line(own, stride, count, position_bytes, margin, repeats_edge, room);
        if (operation == WEIGHTED_MEAN) {
            found = other;
            weighted_means(room, other, count, length, position_bytes);
        } else if (operation != MEAN) {
            found = window_extremes(room, other, count, length, position_bytes, operation == LARGEST);
        } else {
            found = other;
            if (position_bytes == 4) {
                pixel_means(room, other, count, length);
            } else {
                line_means(room, other, count, length, position_bytes);
            }
        }
        if (stride == position_bytes) {
            store(found, own, channels, count * position_bytes);
        } else {
            for (int p = 0; p < count; p++)
                store(found + (ptrdiff_t)p * position_bytes, own + p * stride, channels, position_bytes);
        }
    }
}

// Return the number of taps below `least`, for each byte.
static bytes count_below(const uint8_t *source, const int32_t *restrict offsets, int taps, bytes least) {
    bytes count = {0};
    for (int tap = 0; tap < taps; tap++) {
        bytes at;
        memcpy(&at, source + offsets[tap], sizeof at);
        count -= (bytes)(at < least);  // true is -1
    }
    return count;
}

// Write the median of a window around each pixel of rows [first, last), channel by channel, bit by bit from the highest one.
// `source`: the first pixel inside margins of 255; its rows are `stride` bytes apart. `offsets`: of the window's taps, in bytes, at
// most 2 * COUNT_MAX. `columns[x]` * `rows[y]`: number of taps that count at a pixel, those in the margins left out; of n elements
// in order the median is the one at n / 2, rounded down, which must be below 256. `width`: a multiple of 8 pixels.
void medians(const uint8_t *source, ptrdiff_t stride, const int32_t *offsets, int taps, const int32_t *columns, const int32_t *rows,
             uint8_t *found, int width, int first, int last) {
    int first_taps = taps < COUNT_MAX ? taps : COUNT_MAX;
    for (int y = first; y < last; y++) {
        for (int x = 0; x < width; x += BLOCK) {
            const uint8_t *here = source + y * stride + 4 * x;
            bytes value = {0}, rank;
            for (int i = 0; i < 4 * BLOCK; i++) rank[i] = (uint8_t)(columns[x + i / 4] * rows[y] >> 1);
            for (int bit = 128; bit; bit >>= 1) {
                bytes least = value | (uint8_t)bit, few = count_below(here, offsets, first_taps, least);
                bytes rest = taps > first_taps ? count_below(here, offsets + first_taps, taps - first_taps, least) : (bytes){0};
                value |= (bytes)(few <= rank) & (bytes)(rest <= rank - few) & (uint8_t)bit;
            }
            memcpy(found + 4 * ((ptrdiff_t)y * width + x), &value, sizeof value);
        }
    }
}

// Convert premultiplied pixels to straight ones in place. `straight`: the byte for each alpha and premultiplied byte, alpha first.
void straighten(uint8_t *pixels, const uint8_t *restrict straight, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 255) continue;
        const uint8_t *row = straight + 256 * pixels[3];
        for (int c = 0; c < 3; c++) pixels[c] = row[pixels[c]];
    }
}

// Convert straight pixels to premultiplied ones in place, rounded to the nearest. No tie is possible.
void premultiply(uint8_t *pixels, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 255) continue;
        for (int c = 0; c < 3; c++) {
            uint32_t product = (uint32_t)pixels[c] * pixels[3] + 128;
            pixels[c] = (uint8_t)((product + (product >> 8)) >> 8);
        }
    }
}

// Count straight pixels with alpha above 0 at each of the 256 levels of red, green, blue and luma (BT.709).
void count_levels(const uint8_t *restrict pixels, ptrdiff_t count, uint32_t *restrict counts) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 0) continue;
        for (int c = 0; c < 3; c++) counts[256 * c + pixels[c]]++;
        counts[768 + (2126u * pixels[0] + 7152u * pixels[1] + 722u * pixels[2] + 5000u) / 10000u]++;
    }
}
