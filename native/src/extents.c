// Rectangles of texels that composite.c does not sample: transparent ones around the content, and equal ones in its middle.

#include "draw_op.h"

static int is_visible(const void *texels, int is_half, ptrdiff_t at) {
    const float least = 1.0f / 512.0f;  // composite.c leaves out alpha below 1/255
    float alpha = is_half ? float_of_half(((const uint16_t *)texels)[4 * at + 3]) : ((const float *)texels)[4 * at + 3];
    return alpha > least;
}

static void find_visible(const void *texels, int is_half, int32_t columns, struct texel_rect in, struct texel_rect *found) {
    int is_empty = 1;
    for (int32_t row = in.top; row < in.bottom; row++) {
        ptrdiff_t line = (ptrdiff_t)row * columns;
        int32_t first = in.left, end = in.right;
        while (first < end && !is_visible(texels, is_half, line + first)) first++;
        if (first == end) continue;
        while (!is_visible(texels, is_half, line + end - 1)) end--;
        found->left = is_empty || first < found->left ? first : found->left;
        found->right = end > found->right ? end : found->right;
        found->top = is_empty ? row : found->top;
        found->bottom = row + 1;
        is_empty = 0;
    }
}

// Find a rectangle of texels that are equal to the middle one: rows are added above and below it as long as that enlarges the
// rectangle or a later row can.
static void find_flat(const void *texels, size_t bytes, int32_t columns, struct texel_rect in, struct texel_rect *found) {
    int32_t row = (in.top + in.bottom) / 2, column = (in.left + in.right) / 2;
    const uint8_t *middle = (const uint8_t *)texels + bytes * ((size_t)row * (size_t)columns + (size_t)column);
    ptrdiff_t line = (ptrdiff_t)bytes * columns;
    int32_t top = row, bottom = row, left = in.left, right = in.right;
    int64_t most = 0;
    for (;;) {
        int is_down = bottom < in.bottom && !memcmp(middle + line * (bottom - row), middle, bytes);
        int is_up = top > in.top && !memcmp(middle + line * (top - 1 - row), middle, bytes);
        if (!is_down && !is_up) return;
        is_down = is_down && (!is_up || bottom - row <= row - top);
        const uint8_t *added = middle + line * ((is_down ? bottom++ : --top) - row);
        int32_t first = column, end = column + 1;
        while (first > left && !memcmp(added - bytes * (size_t)(column - first + 1), middle, bytes)) first--;
        while (end < right && !memcmp(added + bytes * (size_t)(end - column), middle, bytes)) end++;
        left = first, right = end;
        int64_t area = (int64_t)(right - left) * (bottom - top);
        if (area <= most) continue;
        most = area;
        *found = (struct texel_rect){left, top, right, bottom};
    }
}

// Find the texels inside [left, right) x [top, bottom) that are not transparent, and a rectangle of equal texels in their middle.
// Texels are premultiplied RGBA, floats or half floats. Rectangles without texels are all 0.
void find_extents(const void *texels, int is_half, int columns, int left, int top, int right, int bottom,
                  struct texel_rect found[2]) {
    memset(found, 0, 2 * sizeof *found);
    find_visible(texels, is_half, columns, (struct texel_rect){left, top, right, bottom}, &found[0]);
    if (found[0].left < found[0].right) find_flat(texels, is_half ? 8 : 16, columns, found[0], &found[1]);
}
