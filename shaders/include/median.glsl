// Byte of a given rank in a window: for each channel by bisection over its 256 levels.
// The including shader defines `counts`, which returns true for an offset inside the window. It reads with
// texel_clamped.
// RANKED: native kernels have computed the bytes, u_ranked.

bool counts(ivec2 offset);

#ifdef RANKED
uniform sampler2D u_ranked;

vec3 ranked(int margin, float rank) {
    return texelFetch(u_ranked, pixel(), 0).rgb;
}
#else

vec3 ranked(int margin, float rank) {
    vec3 low = vec3(-1.0), high = vec3(255.0);
    for (int step_ = 0; step_ < 8; step_++) {
        vec3 middle = floor(0.5 * (low + high)), below = vec3(0.0);
        for (int y = -margin; y <= margin; y++) {
            for (int x = -margin; x <= margin; x++) {
                ivec2 o = ivec2(x, y);
                if (counts(o)) below += vec3(lessThanEqual(texel_clamped(pixel() + o).rgb * 255.0, middle + 0.25));
            }
        }
        bvec3 enough = greaterThan(below, vec3(rank));
        high = mix(high, middle, vec3(enough));
        low = mix(middle, low, vec3(enough));
    }
    return high / 255.0;
}
#endif
