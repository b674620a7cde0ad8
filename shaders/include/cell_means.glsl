// Mean colour of each cell of the layer. If there are fewer cells than pixels, an extra pass computes each mean once.
// CELLS: this pass computes the means, and its pixels are cells. MEANS: u_means has them. Otherwise each pixel computes
// its own cell's mean.

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
