// A distortion: every pixel of the layer shows another point of the picture. Pixels outside the layer do not change.
// The including shader defines `source`, the point from which the pixel at q takes its colour, both in px of the layer.
#include "effect.glsl"
#include "around.glsl"

vec2 source(vec2 q);

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_through();
        return;
    }
    put(sampled(source(q)));
}
