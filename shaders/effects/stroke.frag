// An outline outside the alpha: the largest alpha within a disc of at most 16 px (effects.md 8.2). The opacity (alpha
// of u_color) counts twice.
// in: u_spans, the largest alpha of the 2, 4, 8 and 16 px from each to the right. Two overlapping spans cover a row of
// the disc.
#include "chain.glsl"
#include "around.glsl"

uniform sampler2D u_spans;
uniform vec4 u_spans_region;
uniform float u_width;
uniform vec4 u_color;

float alpha_at(int dx, int dy) {
    return texel_of(u_source, u_source_region, v_frame + vec2(dx, dy)).a;
}

vec4 spans_at(int dx, int dy) {
    return texel_of(u_spans, u_spans_region, v_frame + vec2(dx, dy));
}

// Largest of the 2 side + 1 px of a row of the disc, for sides of 1 to 16 px. For 33 px it skips the middle one.
float most_in_row(int side, int dy) {
    int span = side < 2 ? 2 : side < 4 ? 4 : side < 8 ? 8 : 16;
    vec4 most = max(spans_at(-side, dy), spans_at(side + 1 - span, dy));
    return side < 2 ? most.x : side < 4 ? most.y : side < 8 ? most.z : most.w;
}

// Largest whole number up to 16 whose square is at most a whole number, or -1 without any.
int root(int square) {
    return square < 0 ? -1 : min(int(sqrt(float(square) + 0.5)), 16);
}

// In the private buffer of a 3D layer, offsets are whole px of the world, several texels each (effects.md 3.6).
float most_in_world(float width) {
    int side = int(clamp(width, 1.0, 16.0));
    float most = here().a;
    for (int dy = -side; dy <= side; dy++) {
        for (int dx = -side; dx <= side && most < 1.0; dx++) {
            if (float(dx * dx + dy * dy) <= width * width) most = max(most, frame_at(v_frame + vec2(dx, dy) * u_length_scale).a);
        }
    }
    return most;
}

// A negative width, which an animation can pass through, looks at the eight neighbours at most.
float most_in_texels(float width) {
    int square = int(min(width * width, width < 0.0 ? 2.0 : 512.0)), top = root(square), rows = root(square - 1), rows_of_33 = root(square - 256);
    float most = max(here().a, max(alpha_at(0, -top), alpha_at(0, top)));
    for (int dy = -rows; dy <= rows && most < 1.0; dy++) most = max(most, most_in_row(root(square - dy * dy), dy));
    for (int dy = -rows_of_33; dy <= rows_of_33 && most < 1.0; dy++) most = max(most, alpha_at(0, dy));
    return most;
}

void main() {
    vec4 c = here();
    float most = u_length_scale == vec2(1.0) ? most_in_texels(u_width) : most_in_world(u_width);
    float q = u_color.a, edge = (most - c.a) * q;
    put((1.0 - edge) * c + edge * q * vec4(srgb_to_linear(u_color.rgb), 1.0));
}
