// A transition: each pixel keeps a share of its alpha (effects.md 8.11).
// The including shader defines `keep`: the share at this pixel, 0..1.
#include "effect.glsl"

uniform float u_completion;  // percent

float keep();

// Progress of the transition: 1 from 100 % on (effects.md 4.6).
float progress() {
    return min(1.0, u_completion / 100.0);
}

void main() {
    float share = clamp(keep(), 0.0, 1.0);
    if (share >= 1.0) {
        put_through();
        return;
    }
    vec4 c = here();
    put(vec4(c.rgb, c.a * share));
}
