// Value of a track matte at a frame position. MATTE: 0 none, 1 alpha, 2 alpha inverted, 3 luma, 4 luma inverted.
#include "color.glsl"
#include "formulas.glsl"

#if MATTE != 0
uniform sampler2D u_matte;
uniform vec4 u_matte_region;
#endif

float matte(vec2 frame) {
#if MATTE == 0
    return 1.0;
#else
    if (!holds_frame(u_matte_region, frame)) {
        return MATTE == 2 ? 1.0 : 0.0;
    }
    vec4 source = to_8_bits(texel_of(u_matte, u_matte_region, frame));
    float luma = luma709(source.rgb);
#if MATTE == 1
    return source.a;
#elif MATTE == 2
    return 1.0 - source.a;
#elif MATTE == 3
    return luma * source.a;
#else
    return (1.0 - luma) * source.a;
#endif
#endif
}
