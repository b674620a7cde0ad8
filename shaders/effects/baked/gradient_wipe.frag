// Wipes from dark to bright by the layer's own luma (effects.md 8.11).
#include "wipe.glsl"

uniform float u_softness;  // percent
uniform bool u_invert_gradient;

float keep() {
    if (progress() == 0.0) return 1.0;
    float luma = luma601(here().rgb), softness = max(1e-4, u_softness / 100.0);
    if (u_invert_gradient) luma = 1.0 - luma;
    return (luma - (progress() * (1.0 + 2.0 * softness) - softness)) / softness;
}
