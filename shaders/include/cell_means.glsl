// Colours of cells of the layer, one texel each: made once a cell where there are fewer cells than pixels.
// CELLS: this pass makes them, its pixels are cells. MEANS: they are made, in u_means. Else each pixel makes its cell's own.

vec4 taps_of(vec2 cell);

#ifdef MEANS
uniform sampler2D u_means;
uniform vec4 u_means_region;  // cells

vec4 mean_of(vec2 cell) {
    return holds_frame(u_means_region, cell + 0.5) ? texel_of(u_means, u_means_region, cell + 0.5) : vec4(0.0);
}
#else
vec4 mean_of(vec2 cell) {
    return taps_of(cell);
}
#endif
