// Analytic shapes with the reference's edge ramp (layers.md 5.2). Uses CONTENT, u_size, u_radius; with CELLS u_limit.

#if CONTENT == 1
float distance_px(vec2 unit) {
    float radius = clamp(u_radius, 0.0, 0.5 * min(u_size.x, u_size.y));
    vec2 q = abs((unit - 0.5) * u_size) - (0.5 * u_size - radius);
    return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - radius;
}
#elif CONTENT == 2
float distance_px(vec2 unit) {
    return length((unit - 0.5) * 2.0) - 1.0;
}
#endif

#if CONTENT == 1 || CONTENT == 2
float edge(vec2 unit, vec2 frame) {
    float d = distance_px(unit);
#ifdef CELLS
    // differences within blocks of 2 x 2 px of u_limit, as dFdx would give them there
    vec2 beside = 1.0 - 2.0 * mod(floor(frame - u_limit.xy), 2.0);
    vec2 slope = vec2(distance_px(plane(frame + vec2(beside.x, 0.0))), distance_px(plane(frame + vec2(0.0, beside.y)))) - d;
#else
    vec2 slope = vec2(dFdx(d), dFdy(d));
#endif
#ifdef GRADIENT
    // edge of a canvas: the share of the pixel that is covered
    return clamp(0.5 - d / (length(slope) + 1e-6), 0.0, 1.0);
#else
    float ramp = abs(slope.x) + abs(slope.y) + 1e-6;
    return 1.0 - smoothstep(-ramp, ramp, d);
#endif
}
#endif
