// Keys out by brightness: brighter, darker, similar or dissimilar to a threshold (effects.md 8.10).
#include "effect.glsl"

uniform float u_key_type;  // 0 brighter, 1 darker, 2 similar, 3 dissimilar
uniform float u_threshold, u_tolerance, u_softness;  // 0..255

void main() {
    vec4 c = here();
    float luma = luma601(c.rgb), at = u_threshold / 255.0, tolerance = u_tolerance / 255.0, softness = u_softness / 255.0;
    int kind = int(floor(u_key_type + 0.5));
    float into = kind == 0 ? luma - at + tolerance
        : kind == 1 ? at - luma + tolerance
        : kind == 2 ? tolerance - abs(luma - at)
        : abs(luma - at) - tolerance;
    float keep = into <= 0.0 ? 1.0 : softness == 0.0 ? 0.0 : clamp(1.0 - into / softness, 0.0, 1.0);
    put(vec4(c.rgb, c.a * keep));
}
