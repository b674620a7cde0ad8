// A plane placed in the frame. u_to_unit maps frame pixels to the unit square of its quad.
// FOLDED: positions beyond the diagonal are displaced by u_fold for each unit of u + v - w.

uniform mat3 u_to_unit;
#ifdef FOLDED
uniform vec3 u_fold;
#endif

vec3 unfolded(vec3 unit) {
#ifdef FOLDED
    return unit - max(0.0, unit.x + unit.y - unit.z) * u_fold;
#else
    return unit;
#endif
}

vec2 plane(vec2 frame) {
    vec3 p = unfolded(u_to_unit * vec3(frame, 1.0));
#ifdef PROJECTIVE
    return p.xy / p.z;
#else
    return p.xy;
#endif
}

// A sample exactly on an edge belongs to the quad on its right and above, as in the reference, whose rows count
// upwards.
const vec2 TIE = vec2(1.0, -1.0) / 1024.0;

float holds(vec2 frame) {
    vec3 p = unfolded(u_to_unit * vec3(frame + TIE, 1.0));
#ifdef PROJECTIVE
    // behind the eye p.z is negative: the inverse of a homography has the sign of the depth
    float far = p.z;
#else
    const float far = 1.0;
#endif
    return all(greaterThanEqual(p.xy, vec2(0.0))) && all(lessThanEqual(p.xy, vec2(far))) ? 1.0 : 0.0;
}

// Share of a pixel that the quad covers. As with hardware MSAA, content is shaded once, at the pixel's centre.
float coverage(vec2 frame) {
#if SAMPLES == 4
    return 0.25 * (holds(frame + vec2(-0.125, 0.375)) + holds(frame + vec2(0.375, 0.125))
                   + holds(frame + vec2(-0.375, -0.125)) + holds(frame + vec2(0.125, -0.375)));
#elif SAMPLES == 1
    return holds(frame);
#else
    return 1.0;
#endif
}
