// Blurs along lines over the bytes of a layer's canvas, called by gpu_renderer/kernels/windows.py: along one direction for all
// pixels (directional_blur.frag), and along the contours of a field of heights (vector_blur.frag). Pixels are RGBA, 8 bits, rows
// without padding.

#include "numbers.h"

struct tap {
    int across, down;       // integer part of the displacement in px, rounded down
    uint16_t right, below;  // fraction in 256ths of a px, the precision of Mesa's filter
    uint16_t weight;        // 255ths
    float x, y;             // px
};

// Interpolate two bytes like Mesa's filter of 8-bit textures, which rounds the difference times the weight to the nearest.
static inline uint16_t lerp_8bit(uint16_t first, uint16_t second, uint16_t share) {
    return (uint8_t)(first + ((uint16_t)((uint16_t)(second - first) * share + 128) >> 8));
}

static inline uint16_t weighted(uint16_t value, uint16_t weight) { return (uint16_t)(value * weight + 255) >> 8; }

// Add a displaced row. `top` and `bottom` point to the first pixel to read.
static void add_row(uint16_t *restrict sums, const uint8_t *restrict top, const uint8_t *restrict bottom, struct tap tap,
                    ptrdiff_t count) {
    const uint16_t right = tap.right, below = tap.below, weight = tap.weight;
    if (!right && !below) {
        for (ptrdiff_t i = 0; i < count; i++) sums[i] = (uint16_t)(sums[i] + weighted(top[i], weight));
    } else if (!below) {
        for (ptrdiff_t i = 0; i < count; i++) {
            sums[i] = (uint16_t)(sums[i] + weighted(lerp_8bit(top[i], top[i + 4], right), weight));
        }
    } else if (!right) {
        for (ptrdiff_t i = 0; i < count; i++) {
            sums[i] = (uint16_t)(sums[i] + weighted(lerp_8bit(top[i], bottom[i], below), weight));
        }
    } else {
        for (ptrdiff_t i = 0; i < count; i++) {
            uint16_t above = lerp_8bit(top[i], top[i + 4], right), under = lerp_8bit(bottom[i], bottom[i + 4], right);
            sums[i] = (uint16_t)(sums[i] + weighted(lerp_8bit(above, under, below), weight));
        }
    }
}

// Return the share of a displaced pixel that lies on the canvas, along one axis.
static inline float side_coverage(int at, float moved, int size) {
    float start = (float)at + moved, end = start + 1.0f;
    float share = (end < (float)size ? end : (float)size) - (start > 0.0f ? start : 0.0f);
    return share < 0.0f ? 0.0f : share > 1.0f ? 1.0f : share;
}

// Add displaced pixels [from, to) of a row that can lie partly outside the canvas.
static void add_partly(uint16_t *restrict sums, const uint8_t *source, int width, int height, int y, struct tap tap, int from,
                       int to) {
    int row = y + tap.down;
    const uint8_t *top = source + 4 * (ptrdiff_t)width * clamp_index(row, height);
    const uint8_t *bottom = source + 4 * (ptrdiff_t)width * clamp_index(row + 1, height);
    float down = side_coverage(y, tap.y, height);
    for (int x = from; x < to; x++) {
        float share = down * side_coverage(x, tap.x, width);
        int left = 4 * clamp_index(x + tap.across, width), next = 4 * clamp_index(x + tap.across + 1, width);
        for (int c = 0; c < 4; c++) {
            uint16_t above = lerp_8bit(top[left + c], top[next + c], tap.right);
            uint16_t under = lerp_8bit(bottom[left + c], bottom[next + c], tap.right);
            uint16_t value = (uint16_t)(int32_t)((float)lerp_8bit(above, under, tap.below) * share + 0.5f);
            sums[4 * x + c] = (uint16_t)(sums[4 * x + c] + weighted(value, tap.weight));
        }
    }
}

// Write rows [first, last) of a sum of displaced, weighted copies of a premultiplied picture. Each copy is rounded as (value *
// weight + 255) / 256. `moves`: displacement in px of each tap, across and down. `weights`: 0 to 255, together about 255. `sums`:
// room for 4 * width.
void directional_blur(const uint8_t *source, uint8_t *found, int width, int height, const float *moves, const int32_t *weights,
                      int taps, int first, int last, uint16_t *sums) {
    ptrdiff_t stride = 4 * (ptrdiff_t)width;
    for (int y = first; y < last; y++) {
        memset(sums, 0, (size_t)stride * sizeof *sums);
        for (int k = 0; k < taps; k++) {
            float x = moves[2 * k], down = moves[2 * k + 1];
            int right = (int)floorf(x * 256.0f + 0.01f), below = (int)floorf(down * 256.0f + 0.01f);
            struct tap tap = {right >> 8, below >> 8, (uint16_t)(right & 255), (uint16_t)(below & 255), (uint16_t)weights[k],
                              x,          down};
            int from = width, to = width, row = y + tap.down;
            if (side_coverage(y, down, height) == 1.0f && row >= 0 && row + (tap.below > 0) < height) {
                from = clamp_index((int)ceilf(-x), width + 1);
                to = clamp_index((int)floorf((float)width - x), width + 1);
                // Rounding, and moves that are not finite, must not lead to columns outside the canvas.
                if (from > to || from + tap.across < 0 || to + tap.across + (tap.right > 0) > width) from = to = width;
            }
            if (from < to) {
                const uint8_t *top = source + stride * row + 4 * (from + tap.across);
                add_row(sums + 4 * from, top, tap.below ? top + stride : top, tap, 4 * (ptrdiff_t)(to - from));
            }
            add_partly(sums, source, width, height, y, tap, 0, from);
            add_partly(sums, source, width, height, y, tap, to, width);
        }
        uint8_t *row = found + stride * y;
        for (ptrdiff_t i = 0; i < stride; i++) row[i] = (uint8_t)(sums[i] < 255 ? sums[i] : 255);
    }
}

enum { TAPS_MAX = 64 };

// Write rows [first, last) of means of pixels along the contours of a field: at `steps` px (at most TAPS_MAX, none farther than
// `margin`) across its slope, turned by the angle of a cosine and a sine. Pixels outside the canvas do not count.
void contour_blur(const uint8_t *source, const float *field, uint8_t *found, int width, int height, const float *steps, int taps,
                  int margin, float cosine, float sine, int first, int last) {
    for (int y = first; y < last; y++) {
        int above = y > 0 ? y - 1 : 0, under = y < height - 1 ? y + 1 : y;
        const float *before = field + (ptrdiff_t)above * width, *after = field + (ptrdiff_t)under * width;
        const float *here = field + (ptrdiff_t)y * width;
        float apart_down = (float)(under > above ? under - above : 1);
        for (int x = 0; x < width; x++) {
            int left = x > 0 ? x - 1 : 0, right = x < width - 1 ? x + 1 : x;
            float across = 255.0f * (here[right] - here[left]) / (float)(right > left ? right - left : 1);
            float down = 255.0f * (after[x] - before[x]) / apart_down;
            float slope = sqrtf(across * across + down * down);
            ptrdiff_t own = (ptrdiff_t)y * width + x;
            if (slope <= 1e-4f) {
                memcpy(found + 4 * own, source + 4 * own, 4);
                continue;
            }
            float u = -down / slope, v = across / slope;
            float dx = cosine * u - sine * v, dy = sine * u + cosine * v, beyond = (float)margin + 0.5f;
            int32_t offsets[TAPS_MAX];  // of the taps, in pixels; they are truncated after adding the margin, so that truncation is
                                        // floor
            uint32_t even = 0, odd = 0, count = (uint32_t)taps;
            if (x >= margin && y >= margin && x + margin < width && y + margin < height) {
                for (int k = 0; k < taps; k++) {
                    int32_t right = (int32_t)(dx * steps[k] + beyond), below = (int32_t)(dy * steps[k] + beyond);
                    offsets[k] = (below - margin) * width + right - margin;
                }
            } else {
                count = 0;
                for (int k = 0; k < taps; k++) {
                    int32_t right = (int32_t)(dx * steps[k] + beyond) - margin, below = (int32_t)(dy * steps[k] + beyond) - margin;
                    int is_inside = x + right >= 0 && y + below >= 0 && x + right < width && y + below < height;
                    if (is_inside) offsets[count++] = below * width + right;
                }
            }
            const uint8_t *middle = source + 4 * own;
            for (uint32_t k = 0; k < count; k++) {
                uint32_t pixel;
                memcpy(&pixel, middle + 4 * (ptrdiff_t)offsets[k], sizeof pixel);
                even += pixel & 0xFF00FF;
                odd += pixel >> 8 & 0xFF00FF;
            }
            uint32_t sums[4] = {even & 0xFFFF, odd & 0xFFFF, even >> 16, odd >> 16};
            for (int c = 0; c < 4; c++) found[4 * own + c] = (uint8_t)((2 * sums[c] + count) / (2 * count));
        }
    }
}

// Write rows [first, last) of luma times alpha of straight pixels, 0 to 1.
void heights(const uint8_t *restrict source, float *restrict field, int width, int first, int last) {
    for (ptrdiff_t i = (ptrdiff_t)first * width; i < (ptrdiff_t)last * width; i++) {
        const uint8_t *pixel = source + 4 * i;
        float luma = 0.2126f * (float)pixel[0] + 0.7152f * (float)pixel[1] + 0.0722f * (float)pixel[2];
        field[i] = luma * (float)pixel[3] / (255.0f * 255.0f);
    }
}

// Write rows [first, last) of the means of 2 margin + 1 values along an axis (0 is across). Values outside the canvas do not count.
void box_means(const float *restrict source, float *restrict found, int width, int height, int axis, int margin, int first,
               int last) {
    for (int y = first; y < last; y++) {
        float *row = found + (ptrdiff_t)y * width;
        memset(row, 0, (size_t)width * sizeof *row);
        if (axis) {
            int from = y > margin ? y - margin : 0, to = y + margin < height ? y + margin : height - 1;
            for (int at = from; at <= to; at++) {
                const float *added = source + (ptrdiff_t)at * width;
                for (int x = 0; x < width; x++) row[x] += added[x];
            }
            for (int x = 0; x < width; x++) row[x] /= (float)(to - from + 1);
            continue;
        }
        const float *own = source + (ptrdiff_t)y * width;
        for (int by = -margin; by <= margin; by++) {
            int from = by < 0 ? -by : 0, to = by > 0 ? width - by : width;
            for (int x = from; x < to; x++) row[x] += own[x + by];
        }
        for (int x = 0; x < width; x++) {
            int from = x > margin ? x - margin : 0, to = x + margin < width ? x + margin : width - 1;
            row[x] /= (float)(to - from + 1);
        }
    }
}
