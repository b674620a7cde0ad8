// The colour stage of a layer (format/effects.md 3.2 to 3.4): one matrix for all affine effects, then one table.
// in:  straight linear colour. out: the same, graded and clamped to 0..1.
#include "color.glsl"

uniform mat3 u_grade_matrix;
uniform vec3 u_grade_offset;
uniform bool u_has_grade_table;
uniform sampler2D u_grade_table;  // 256 x 1, encoded; sampled at u = value, without the half-texel correction

vec3 graded(vec3 linear_color) {
    vec3 c = clamp(u_grade_matrix * linear_color + u_grade_offset, 0.0, 1.0);
    if (!u_has_grade_table) return c;
    vec3 u = clamp(linear_to_srgb(c), 0.0, 1.0);
    return srgb_to_linear(vec3(
        texture(u_grade_table, vec2(u.r, 0.5)).r, texture(u_grade_table, vec2(u.g, 0.5)).g, texture(u_grade_table, vec2(u.b, 0.5)).b));
}
