// Colour stage of a layer: affine rows, then a 256-entry table (effects.md 3.3, 3.4). Straight, linear light.
// MATRIX, TABLES: parts that the layer has.
#include "color.glsl"

#ifdef MATRIX
uniform mat3 u_grade_matrix;
uniform vec3 u_grade_offset;
#endif
#ifdef TABLES
uniform sampler2D u_grade_table;  // 256 x 1, encoded levels
#endif

vec3 to_aces_cg(vec3 c) {
    return vec3(dot(c, vec3(0.613097396, 0.339523469, 0.047379562)),
                dot(c, vec3(0.070194066, 0.916353879, 0.013452032)),
                dot(c, vec3(0.020615588, 0.109569769, 0.869814633)));
}

#ifdef TABLES
// Returns the table's value for an encoded level of a channel: linear between its entries at 256 times the level. As in
// the reference, half a texel is missing, so the value is up to half a level off. In float, see texels.glsl.
float table_value(float level, int channel) {
    float at = level * 256.0 - 0.5, low = floor(at);
    float below = texelFetch(u_grade_table, ivec2(clamp(int(low), 0, 255), 0), 0)[channel];
    return mix(below, texelFetch(u_grade_table, ivec2(clamp(int(low) + 1, 0, 255), 0), 0)[channel], at - low);
}

// Returns the linear colour for an encoded one.
vec3 tabled(vec3 encoded) {
    vec3 e = clamp(encoded, 0.0, 1.0);
    return srgb_to_linear(vec3(table_value(e.r, 0), table_value(e.g, 1), table_value(e.b, 2)));
}
#endif

vec4 graded(vec4 c) {
#ifdef MATRIX
    c.rgb = clamp(u_grade_matrix * c.rgb + u_grade_offset, 0.0, 1.0);
#endif
#ifdef TABLES
    c.rgb = tabled(linear_to_srgb(c.rgb));
#endif
    return c;
}
