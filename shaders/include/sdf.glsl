// Analytic shapes with the reference's edge ramp (format/layers.md 5.2). Uses CONTENT, u_size, u_radius.

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
float edge(vec2 unit) {
    float d = distance_px(unit);
#ifdef GRADIENT
    // edge of a canvas: the share of the pixel that is covered
    return clamp(0.5 - d / (length(vec2(dFdx(d), dFdy(d))) + 1e-6), 0.0, 1.0);
#else
    float ramp = fwidth(d) + 1e-6;
    return 1.0 - smoothstep(-ramp, ramp, d);
#endif
}
#endif
