// Rows of a frame that light is drawn on, an instance each, as far as there is light in them: beyond lies nothing to draw.
#include "frame.glsl"
#include "light.glsl"

in vec4 i_rows;  // left, top, right, bottom, frame px

const float DARK = 0.0039;  // alpha: less than what vanishes anyway, however interpolating rounds

// The cells around a pixel's centre: its share of the light lies between them.
ivec2 cell_before(vec2 pixel) {
    return ivec2(floor(pixel * u_light_share - u_light_region.xy - 0.5));
}

bool is_lit(int column, int first, int last) {
    float most = 0.0;
    for (int row = first; row <= last; ++row) {
        most = max(most, texelFetch(u_light, ivec2(column, row), 0).a);
    }
    return most > DARK;
}

void main() {
    ivec2 first = cell_before(i_rows.xy + 0.5), last = cell_before(i_rows.zw - 0.5) + 1;
    bool is_left = (gl_VertexID & 1) == 0;
    int column = is_left ? first.x : last.x, onward = is_left ? 1 : -1;
    while (column >= first.x && column <= last.x && !is_lit(column, first.y, last.y)) {
        column += onward;
    }
    bool is_dark = column < first.x || column > last.x;
    float edge = (float(column) + 0.5 - float(onward) + u_light_region.x) / u_light_share;  // px, where its light ends
    vec2 corner = vec2(is_dark ? i_rows.x : clamp(is_left ? floor(edge) : ceil(edge), i_rows.x, i_rows.z),
                       gl_VertexID < 2 ? i_rows.y : i_rows.w);
    gl_Position = vec4(2.0 * (corner - u_region.xy) / u_region.zw - 1.0, 0.0, 1.0);
}
