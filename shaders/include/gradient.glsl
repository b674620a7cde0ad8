// A gradient across a unit square (format/layers.md 6): STOPS of them, GRADIENT 1 linear, 2 radial. Uses color.glsl's encoding:
// colours are encoded sRGB and straight, and what is interpolated.

uniform vec4 u_place;  // linear: gain across, gain down, offset in the corner; radial: centre, gain across and down
uniform vec4 u_first;
uniform vec2 u_ramps[STOPS - 1];  // where a ramp begins, and its slope
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
