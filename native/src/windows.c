// Windows over the straight or premultiplied bytes of a layer's canvas, called by gpu_renderer/kernels/windows.py: means and extremes
// along an axis at a cost that does not grow with the window, ranks by bisection. Pixels are RGBA, 8 bits, rows without padding.
// Every processor gives the same bytes: integers, and single floats that no step contracts.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX2__
enum { BLOCK = 8 };  // px in a vector that the processor holds in a register: wider ones become scalar code
#else
enum { BLOCK = 4 };
#endif
enum { STRIP = 64, PART_MAX = 255 };  // columns of px; taps whose count fits a byte
enum operation { MEAN, LARGEST, SMALLEST, WEIGHTED_MEAN };
typedef uint8_t bytes __attribute__((vector_size(4 * BLOCK)));

// `units` bytes from `first` on and `gap` bytes further: the larger or the smaller of both.
static void extreme(const uint8_t *restrict first, ptrdiff_t gap, uint8_t *restrict found, ptrdiff_t units, int is_largest) {
    const uint8_t *second = first + gap;
    if (is_largest) {
        for (ptrdiff_t i = 0; i < units; i++) found[i] = first[i] > second[i] ? first[i] : second[i];
    } else {
        for (ptrdiff_t i = 0; i < units; i++) found[i] = first[i] < second[i] ? first[i] : second[i];
    }
}

// Extremes of `length` positions of `unit` bytes each, for `count` positions: windows that double. Both buffers hold
// count + length - 1 positions, and the first one the padded line. Returns the buffer with the result.
static uint8_t *extremes(uint8_t *padded_line, uint8_t *other, int count, int length, int unit, int is_largest) {
    int have = 1, left = count + length - 1;
    while (have < length) {
        int step = have < length - have ? have : length - have;
        left -= step;
        extreme(padded_line, (ptrdiff_t)step * unit, other, (ptrdiff_t)left * unit, is_largest);
        uint8_t *swapped = padded_line;
        padded_line = other;
        other = swapped;
        have += step;
    }
    return padded_line;
}

// Sliding means of `length` positions, rounded to the nearest: no tie is possible for an odd length.
static void means(const uint8_t *restrict padded_line, uint8_t *restrict found, int count, int length, int unit) {
    uint32_t sums[4 * STRIP] = {0};
    float share = 1.0f / (float)length;
    for (int p = 0; p < length - 1; p++) {
        for (int i = 0; i < unit; i++) sums[i] += padded_line[(ptrdiff_t)p * unit + i];
    }
    for (int p = 0; p < count; p++) {
        const uint8_t *oldest = padded_line + (ptrdiff_t)p * unit, *newest = oldest + (ptrdiff_t)(length - 1) * unit;
        uint8_t *mean = found + (ptrdiff_t)p * unit;
        for (int i = 0; i < unit; i++) {
            sums[i] += newest[i];
            mean[i] = (uint8_t)(int32_t)((float)(int32_t)sums[i] * share + 0.5f);
            sums[i] -= oldest[i];
        }
    }
}

// The same for a pixel a position, whose four sums stay in registers.
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

// The nearest whole number, the even one of two. x is 0 to 255.5: adding 1.5 * 2^23 leaves a float no room for a fraction.
static uint8_t nearest(float x) {
    return (uint8_t)(int32_t)(x + 12582912.0f - 12582912.0f);
}

static void weigh(const uint8_t *restrict pixels, uint32_t *restrict sums, int unit, uint32_t sign) {
    for (int i = 0; i < unit; i += 4) {
        uint32_t alpha = sign * pixels[i + 3];
        for (int c = 0; c < 3; c++) sums[i + c] += alpha * pixels[i + c];
        sums[i + 3] += alpha;
    }
}

// Sliding means of straight pixels, whose colours count by their alpha. At most 2^15 positions.
static void weighted_means(const uint8_t *restrict padded_line, uint8_t *restrict found, int count, int length, int unit) {
    uint32_t sums[4 * STRIP] = {0};
    for (int p = 0; p < length - 1; p++) weigh(padded_line + (ptrdiff_t)p * unit, sums, unit, 1);
    for (int p = 0; p < count; p++) {
        const uint8_t *oldest = padded_line + (ptrdiff_t)p * unit;
        uint8_t *mean = found + (ptrdiff_t)p * unit;
        weigh(oldest + (ptrdiff_t)(length - 1) * unit, sums, unit, 1);
        for (int i = 0; i < unit; i += 4) {
            float alpha = (float)(int32_t)(sums[i + 3] ? sums[i + 3] : 1);
            for (int c = 0; c < 3; c++) mean[i + c] = nearest((float)(int32_t)sums[i + c] / alpha);
            mean[i + 3] = nearest((float)(int32_t)sums[i + 3] / (float)length);
        }
        weigh(oldest, sums, unit, -1u);
    }
}

// `count` positions of `unit` bytes, `stride` bytes apart, with `margin` positions on both sides: the edge repeated, or nothing.
static void padded(const uint8_t *restrict line, ptrdiff_t stride, int count, int unit, int margin, int repeats_edge,
                   uint8_t *restrict padded_line) {
    uint8_t *own = padded_line + (ptrdiff_t)margin * unit, *beyond = own + (ptrdiff_t)count * unit;
    if (stride == unit) {
        memcpy(own, line, (size_t)count * unit);
    } else {
        for (int p = 0; p < count; p++) memcpy(own + (ptrdiff_t)p * unit, line + p * stride, (size_t)unit);
    }
    for (int p = 0; p < margin; p++) {
        if (repeats_edge) {
            memcpy(padded_line + (ptrdiff_t)p * unit, own, (size_t)unit);
            memcpy(beyond + (ptrdiff_t)p * unit, beyond - unit, (size_t)unit);
        } else {
            memset(padded_line + (ptrdiff_t)p * unit, 0, (size_t)unit);
            memset(beyond + (ptrdiff_t)p * unit, 0, (size_t)unit);
        }
    }
}

static void store(const uint8_t *restrict found, uint8_t *restrict line, const uint8_t *restrict channels, int unit) {
    for (int i = 0; i < unit; i++) line[i] = (uint8_t)((found[i] & channels[i & 3]) | (line[i] & ~channels[i & 3]));
}

// Replace the chosen channels (255, others 0) of pixels by the mean or an extreme of 2 margin + 1 px along an axis (0 is across).
// Computes the lines [first, last) of `width` x `height` px: rows for axis 0, columns for axis 1.
// `room`: twice 4 * STRIP bytes for each position and its margins.
void window(uint8_t *pixels, int width, int height, int axis, int margin, int operation, int repeats_edge,
            const uint8_t *channels, int first, int last, uint8_t *room) {
    ptrdiff_t row = 4 * (ptrdiff_t)width;
    int count = axis ? height : width, length = 2 * margin + 1, step = axis ? STRIP : 1;
    for (int line = first; line < last; line += step) {
        int unit = 4 * (last - line < step ? last - line : step);
        uint8_t *own = pixels + (axis ? 4 * (ptrdiff_t)line : row * line), *found;
        ptrdiff_t stride = axis ? row : 4;
        uint8_t *other = room + (ptrdiff_t)(count + 2 * margin) * unit;
        padded(own, stride, count, unit, margin, repeats_edge, room);
        if (operation == WEIGHTED_MEAN) {
            found = other;
            weighted_means(room, other, count, length, unit);
        } else if (operation != MEAN) {
            found = extremes(room, other, count, length, unit, operation == LARGEST);
        } else {
            found = other;
            if (unit == 4) {
                pixel_means(room, other, count, length);
            } else {
                means(room, other, count, length, unit);
            }
        }
        if (stride == unit) {
            store(found, own, channels, count * unit);
        } else {
            for (int p = 0; p < count; p++) store(found + (ptrdiff_t)p * unit, own + p * stride, channels, unit);
        }
    }
}

// How many taps hold less than `least`, byte by byte.
static bytes below(const uint8_t *source, const int32_t *restrict offsets, int taps, bytes least) {
    bytes count = {0};
    for (int tap = 0; tap < taps; tap++) {
        bytes at;
        memcpy(&at, source + offsets[tap], sizeof at);
        count -= (bytes)(at < least);  // true is -1
    }
    return count;
}

// The middle element of a window around each pixel and channel, bit by bit from the highest one. `source`: the first pixel of pixels
// with margins, whose rows are `stride` bytes apart. `offsets`: of the window's taps, in bytes. Of columns * rows elements the one at
// half, rounded down, counts: `columns[x]` and `rows[y]`, by which taps of 255 in the margins are left out. At most 2 * PART_MAX taps,
// and half of them below 256. `width`: a multiple of 8 px. Rows [first, last) are done.
void ranked(const uint8_t *source, ptrdiff_t stride, const int32_t *offsets, int taps, const int32_t *columns,
            const int32_t *rows, uint8_t *found, int width, int first, int last) {
    int some = taps < PART_MAX ? taps : PART_MAX;
    for (int y = first; y < last; y++) {
        for (int x = 0; x < width; x += BLOCK) {
            const uint8_t *here = source + y * stride + 4 * x;
            bytes value = {0}, rank;
            for (int i = 0; i < 4 * BLOCK; i++) rank[i] = (uint8_t)(columns[x + i / 4] * rows[y] >> 1);
            for (int bit = 128; bit; bit >>= 1) {
                bytes least = value | (uint8_t)bit, few = below(here, offsets, some, least);
                bytes rest = taps > some ? below(here, offsets + some, taps - some, least) : (bytes){0};
                value |= (bytes)(few <= rank) & (bytes)(rest <= rank - few) & (uint8_t)bit;
            }
            memcpy(found + 4 * ((ptrdiff_t)y * width + x), &value, sizeof value);
        }
    }
}

// Straight colours of premultiplied pixels, in place. `straight`: the byte of each alpha and premultiplied byte, alpha first.
void straighten(uint8_t *pixels, const uint8_t *restrict straight, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 255) continue;
        const uint8_t *row = straight + 256 * pixels[3];
        for (int c = 0; c < 3; c++) pixels[c] = row[pixels[c]];
    }
}

// Premultiplied bytes of straight ones, in place, rounded to the nearest: no tie is possible.
void premultiply(uint8_t *pixels, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 255) continue;
        for (int c = 0; c < 3; c++) {
            uint32_t product = (uint32_t)pixels[c] * pixels[3] + 128;
            pixels[c] = (uint8_t)((product + (product >> 8)) >> 8);
        }
    }
}

// Counts the shown pixels at each level of red, green, blue and luma (BT.709), 256 a channel. Pixels are straight.
void count_levels(const uint8_t *restrict pixels, ptrdiff_t count, uint32_t *restrict counts) {
    for (ptrdiff_t i = 0; i < count; i++, pixels += 4) {
        if (pixels[3] == 0) continue;
        for (int c = 0; c < 3; c++) counts[256 * c + pixels[c]]++;
        counts[768 + (2126u * pixels[0] + 7152u * pixels[1] + 722u * pixels[2] + 5000u) / 10000u]++;
    }
}
