// Shears the picture from the floor or from the top (effects.md 8.8).
#include "warp.glsl"

uniform float u_slant;  // px
uniform float u_slant_axis;  // 0 across, 1 down
uniform float u_floor;  // the line that keeps its place, as a share of the side

vec2 source(vec2 q) {
    vec2 lean = u_slant * (q / extent() - clamp(u_floor, 0.0, 1.0));
    return floor(u_slant_axis + 0.5) == 1.0 ? q - vec2(0.0, lean.x) : q - vec2(lean.y, 0.0);
}
