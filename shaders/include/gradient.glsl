// Gradient across a unit square (layers.md 6), with STOPS stops. GRADIENT: 1 linear, 2 radial. Uses color.glsl:
// the colours that are interpolated are encoded sRGB and straight.

uniform vec4 u_place;  // linear: gain across, gain down, offset in the corner; radial: centre, gain across and down
uniform vec4 u_first;
uniform vec2 u_ramps[STOPS - 1];  // start of a ramp, and its slope
uniform vec4 u_added[STOPS - 1];

vec4 gradient(vec2 unit) {
#if GRADIENT == 2
    float offset = length((unit - u_place.xy) * u_place.zw);
#else
    float offset = u_place.x * unit.x + u_place.y * unit.y + u_place.z;
#endif
    vec4 color = u_first;
    for (int i = 0; i < STOPS - 1; ++i) {
        color += clamp((offset - u_ramps[i].x) * u_ramps[i].y, 0.0, 1.0) * u_added[i];
    }
    return color;
}
