// Convolution of targets of half floats along x, then y, called by gpu_renderer/kernels/windows.py: the sums and the roundings of
// shaders/effects/convolve.frag, in the same order. Pixels are premultiplied RGBA, or one channel; rows without padding.

#include "numbers.h"

#ifdef __AVX2__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { BLOCK = 4 * LANES, STRIP = 64, TAPS_MAX = 128 };  // numbers summed at a time; columns of pixels; distances of a kernel
typedef float lanes __attribute__((vector_size(4 * LANES)));

// Weight of the centre, and weights of pixels at `count` distances on both sides, nearest first.
struct taps {
    const float *weights;
    const int32_t *distances;
    int count, margin;
    float middle;
};

INLINE lanes loaded(const float *numbers) {
    lanes found;
    memcpy(&found, numbers, sizeof found);
    return found;
}

// Write weighted sums of `count` numbers, a multiple of BLOCK. `before`, `after`: numbers at each distance.
static void add_taps(const struct taps *taps, const float *middle, const float *const *before, const float *const *after,
                     float *restrict found, int count) {
    for (int i = 0; i < count; i += BLOCK) {
        lanes sums[4];
        for (int j = 0; j < 4; j++) sums[j] = taps->middle * loaded(middle + i + j * LANES);
        for (int k = 0; k < taps->count; k++) {
            const float weight = taps->weights[k], *first = before[k] + i, *second = after[k] + i;
            sums[0] += weight * (loaded(first) + loaded(second));
            sums[1] += weight * (loaded(first + LANES) + loaded(second + LANES));
            sums[2] += weight * (loaded(first + 2 * LANES) + loaded(second + 2 * LANES));
            sums[3] += weight * (loaded(first + 3 * LANES) + loaded(second + 3 * LANES));
        }
        memcpy(found + i, sums, sizeof sums);
    }
}

// Limit the colours of premultiplied pixels to their alpha.
static void limit_to_alpha(float *restrict pixels, int count) {
    int i = 0;
#ifdef __F16C__
    for (; i + 2 <= count; i += 2) {
        __m256 both = _mm256_loadu_ps(pixels + 4 * i);
        _mm256_storeu_ps(pixels + 4 * i, _mm256_min_ps(both, _mm256_permute_ps(both, 0xff)));
    }
#endif
    for (; i < count; i++) {
        for (int c = 0; c < 3; c++) pixels[4 * i + c] = fminf(pixels[4 * i + c], pixels[4 * i + 3]);
    }
}

static void write_edge(const uint16_t *edge, int channels, int is_clear, float *restrict found, int count) {
    for (int i = 0; i < channels * count; i++) found[i] = is_clear ? 0.0f : float_of_half(edge[i % channels]);
}

// Write columns [left, right) of a row of pixels as floats. Outside the row, repeat its edge or, with `is_clear`, write 0.
static void read_columns(const uint16_t *row, int columns, int channels, int left, int right, int is_clear, float *restrict found) {
    int first = clamp_index(left, columns + 1), last = clamp_index(right, columns + 1);
    const uint16_t *end = row + channels * (ptrdiff_t)columns;
    write_edge(row, channels, is_clear, found, (right < first ? right : first) - left);
    read_half_patterns(row + channels * (ptrdiff_t)first, found + channels * (first - left), channels * (last - first));
    int beyond = last > left ? last : left;
    write_edge(end - channels, channels, is_clear, found + channels * (beyond - left), right - beyond);
    if (channels == 4) limit_to_alpha(found, right - left);
}

static struct taps taps_of(const float *weights, const int32_t *distances, int count) {
    return (struct taps){weights + 1, distances + 1, count - 1, distances[count - 1], weights[0]};
}

// Write rows [first, last) of a convolution of `columns` x `rows` pixels: `found` is `width` pixels wide and begins at (left, top)
// of the source, half floats with `is_half`, else floats. Kernels are at most TAPS_MAX weights and distances in px, from the centre
// outwards. `room`: for 2 rows and last - first + 2 * (last distance down) rows of STRIP pixels, and a row with margins.
void convolve(const uint16_t *source, int columns, int rows, int channels, void *found, int is_half, int width, int left, int top,
              const float *across_weights, const int32_t *across_distances, int across_count, const float *down_weights,
              const int32_t *down_distances, int down_count, int is_clear, int first, int last, float *room) {
    const struct taps across = taps_of(across_weights, across_distances, across_count);
    const struct taps down = taps_of(down_weights, down_distances, down_count);
    const float *before[TAPS_MAX], *after[TAPS_MAX];
    int from = clamp_index(top + first - down.margin, rows), to = clamp_index(top + last - 1 + down.margin, rows) + 1;
    int strip = channels * STRIP;
    float *blank = room, *sums = blank + strip, *line = sums + strip, *between = line + channels * (STRIP + 2 * across.margin);
    fill(blank, 0.0f, strip);
    for (int x = 0; x < width; x += STRIP) {
        int shown = channels * (width - x < STRIP ? width - x : STRIP);
        const float *middle = line + channels * across.margin;
        for (int k = 0; k < across.count; k++) {
            before[k] = middle - channels * across.distances[k], after[k] = middle + channels * across.distances[k];
        }
        for (int y = from; y < to; y++) {
            const uint16_t *row = source + channels * (ptrdiff_t)columns * y;
            float *own = between + (ptrdiff_t)strip * (y - from);
            read_columns(row, columns, channels, left + x - across.margin, left + x + STRIP + across.margin, is_clear, line);
            add_taps(&across, middle, before, after, own, strip);
            truncate_to_halves(own, strip);
            if (channels == 4) limit_to_alpha(own, STRIP);
        }
        for (int y = first; y < last; y++) {
            const float *at[2 * TAPS_MAX + 1];
            for (int k = 0; k < 2 * down.count + 1; k++) {
                int beside = k < down.count ? -down.distances[k] : k == 2 * down.count ? 0 : down.distances[k - down.count];
                int row = top + y + beside, is_inside = row >= 0 && row < rows;
                at[k] = is_clear && !is_inside ? blank : between + (ptrdiff_t)strip * (clamp_index(row, rows) - from);
            }
            add_taps(&down, at[2 * down.count], at, at + down.count, sums, strip);
            ptrdiff_t place = channels * ((ptrdiff_t)width * y + x);
            if (is_half) {
                truncate_to_halves(sums, shown);
                write_half_patterns(sums, (uint16_t *)found + place, shown);
            } else {
                memcpy((float *)found + place, sums, (size_t)shown * sizeof *sums);
            }
        }
    }
}
