// Places of many flat layers at once, in double precision: the formulas of gpu_renderer/geometry/matrix.py and
// display_list/paint.py with the same operations in the same order, so that the results are equal bit for bit.
//
// Arrays have one row for each layer. A map is six numbers: the images of the two unit vectors, and of the origin, x and y of each.

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef M_PI  // not in C11
#define M_PI 3.14159265358979323846
#endif
#define SUBPIXELS 16.0       // `matrix.SUBPIXELS`
#define PLACED_MAX 2.5e8     // a quarter of the largest number in a quad, because sums of a map's numbers must not exceed that
#define FLAT_MAX 1e-12       // determinant below which a quad is a line or a point
#define ALIGNED_PX_MAX 1e-6  // distance of an edge from the pixel grid

enum { NUMBERS = 9, X = 0, Y, DEGREES, SCALE_X, SCALE_Y, ANCHOR_X, ANCHOR_Y };

struct map {
    double across_x, across_y, down_x, down_y, x, y;
};

struct place {
    double to_unit[12];  // inverse and fold in column order, see `matrix.folded_columns`
    int64_t touched[4];  // left, top, right and bottom of the pixels that the content can touch
    int64_t region[4];   // left, top, width and height of these pixels with a rim of one pixel, within the clip
    int64_t is_aligned;  // upright, with its edges between pixels
    int64_t is_shown;
};

static double smaller(double a, double b) { return a < b ? a : b; }

static double larger(double a, double b) { return a > b ? a : b; }

static double clipped(double number, double first, double last) { return smaller(larger(number, first), last); }

static double on_grid(double number) { return floor(number * SUBPIXELS + 0.5) / SUBPIXELS; }

// Compare bit patterns: the compiler assumes that floats are finite.
static int is_placeable(double number) {
    const double most = PLACED_MAX;
    uint64_t bits, limit;
    memcpy(&bits, &number, sizeof bits);
    memcpy(&limit, &most, sizeof limit);
    return (bits & ~(UINT64_C(1) << 63)) <= limit;
}

static struct map boxed(struct map m, const double box[4]) {
    double x = box[0], y = box[1], width = box[2], height = box[3];
    return (struct map){
        m.across_x * width, m.across_y * width, m.down_x * height, m.down_y * height,
        m.across_x * x + m.down_x * y + m.x, m.across_y * x + m.down_y * y + m.y,
    };
}

// Return cosine and sine of an angle, see `matrix.rotation`. Those of a number that is not finite are too large for a quad.
static void turn(double degrees, double *cosine, double *sine) {
    // Python calls the C library's functions one by one. The compiler would call both at once, perhaps with other last bits.
    static double (*const volatile cosine_of)(double) = cos, (*const volatile sine_of)(double) = sin;
    if (!is_placeable(degrees)) {
        *cosine = *sine = 1e300;
        return;
    }
    if (fmod(degrees, 90.0) != 0.0) {
        double radians = degrees * (M_PI / 180.0);
        *cosine = cosine_of(radians), *sine = sine_of(radians);
        return;
    }
    static const double turned[4][2] = {{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}};
    int quarter = (int)fmod(degrees / 90.0, 4.0);
    *cosine = turned[quarter & 3][0], *sine = turned[quarter & 3][1];
}

// Write the map from layer px to frame px of each transform without skew, see `matrix.placed`. `view`: the first six numbers of a matrix.
void place_maps(const double (*transforms)[NUMBERS], const double view[6], int count, struct map *maps) {
    double a = view[0], b = view[1], c = view[2], d = view[3], e = view[4], f = view[5], cosine, sine;
    for (int at = 0; at < count; at++) {
        const double *t = transforms[at];
        turn(t[DEGREES], &cosine, &sine);
        double across_x = cosine * t[SCALE_X], across_y = sine * t[SCALE_X];
        double down_x = -sine * t[SCALE_Y], down_y = cosine * t[SCALE_Y];
        double x = across_x * -t[ANCHOR_X] + down_x * -t[ANCHOR_Y] + t[X];
        double y = across_y * -t[ANCHOR_X] + down_y * -t[ANCHOR_Y] + t[Y];
        maps[at] = (struct map){
            a * across_x + b * across_y, d * across_x + e * across_y, a * down_x + b * down_y,
            d * down_x + e * down_y, a * x + b * y + c, d * x + e * y + f,
        };
    }
}

// Move a quad to the subpixel grid, and return the displacement of its last corner, see `matrix.on_subpixels`.
static struct map on_subpixels(struct map m, double fold[2]) {
    double x = on_grid(m.x), y = on_grid(m.y);
    struct map found = {
        on_grid(m.across_x + m.x) - x, on_grid(m.across_y + m.y) - y, on_grid(m.down_x + m.x) - x, on_grid(m.down_y + m.y) - y, x, y,
    };
    int is_upright = (m.across_x == 0.0 || m.down_x == 0.0) && (m.across_y == 0.0 || m.down_y == 0.0);
    fold[0] = is_upright ? 0.0 : on_grid(m.across_x + m.down_x + m.x) - (x + found.across_x + found.down_x);
    fold[1] = is_upright ? 0.0 : on_grid(m.across_y + m.down_y + m.y) - (y + found.across_y + found.down_y);
    return found;
}

// Write the inverse of a quad and its fold in column order. Return 0 for a line or a point.
static int invert(struct map m, const double fold[2], double to_unit[12]) {
    double a = m.across_x, b = m.down_x, c = m.x, d = m.across_y, e = m.down_y, f = m.y;
    double determinant = a * e + b * -d;
    int is_flat = fabs(determinant) < FLAT_MAX;
    double share = 1.0 / (is_flat ? 1.0 : determinant);
    const double cofactors[9] = {e, -d, 0.0, -b, a, 0.0, b * f - c * e, c * d - a * f, a * e - b * d};
    for (int at = 0; at < 9; at++) to_unit[at] = cofactors[at] * share;
    double u = to_unit[0] * fold[0] + to_unit[3] * fold[1], v = to_unit[1] * fold[0] + to_unit[4] * fold[1];
    double room = 1.0 + u + v, unfolded = room == 0.0 ? 0.0 : 1.0 / room;
    to_unit[9] = u * unfolded, to_unit[10] = v * unfolded, to_unit[11] = 0.0;
    return !is_flat;
}

// Write the pixels of one axis that a quad touches and its region. Return 0 if it is outside the frame. `frame` and `clip`: left, top,
// right, bottom.
static int touch(int axis, double across, double down, double origin, int is_folded, const double frame[4], const double clip[4],
                 struct place *place) {
    double first = frame[axis], last = frame[axis + 2];
    double low = floor(clipped(smaller(across, 0.0) + smaller(down, 0.0) + origin, first, last));
    double high = ceil(clipped(larger(across, 0.0) + larger(down, 0.0) + origin, first, last));
    int is_inside = low < high;
    low = clipped(low - is_folded, first, last), high = clipped(high + is_folded, first, last);
    place->touched[axis] = (int64_t)low, place->touched[axis + 2] = (int64_t)high;
    double left = larger(low - 1.0, clip[axis]), right = smaller(high + 1.0, clip[axis + 2]);
    place->region[axis] = (int64_t)left, place->region[axis + 2] = (int64_t)larger(right - left, 0.0);
    return is_inside;
}

static int is_between_pixels(double edge) { return fabs(edge - rint(edge)) < ALIGNED_PX_MAX; }

static int is_aligned(struct map quad) {
    return quad.down_x == 0.0 && quad.across_y == 0.0 && quad.across_x > 0.0 && quad.down_y > 0.0 && is_between_pixels(quad.x) &&
           is_between_pixels(quad.y) && is_between_pixels(quad.x + quad.across_x) && is_between_pixels(quad.y + quad.down_y);
}

// Write the place of each quad, see `paint.placed_quad`. `sizes`: width and height in layer px, around the origin. `boxes`: the part of
// each quad that has content. `quads`: the maps of the unit square. Return 0 if a number is too large.
int place_quads(const struct map *maps, const double (*sizes)[2], const double (*boxes)[4], const double frame[4],
                const double clip[4], int count, struct map *quads, struct place *places) {
    for (int at = 0; at < count; at++) {
        double width = sizes[at][0], height = sizes[at][1], fold[2];
        struct map exact = boxed(maps[at], (const double[4]){-width / 2.0, -height / 2.0, width, height});
        const double numbers[6] = {exact.across_x, exact.across_y, exact.down_x, exact.down_y, exact.x, exact.y};
        for (int number = 0; number < 6; number++)
            if (!is_placeable(numbers[number])) return 0;
        struct place *place = &places[at];
        struct map quad = quads[at] = on_subpixels(exact, fold), drawn = boxed(quad, boxes[at]);
        int is_folded = fold[0] != 0.0 || fold[1] != 0.0;
        int is_area = invert(quad, fold, place->to_unit);
        int is_wide = touch(0, drawn.across_x, drawn.down_x, drawn.x, is_folded, frame, clip, place);
        int is_high = touch(1, drawn.across_y, drawn.down_y, drawn.y, is_folded, frame, clip, place);
        place->is_aligned = is_aligned(quad), place->is_shown = is_area && is_wide && is_high;
    }
    return 1;
}
