// A distortion: every pixel of the layer shows the picture at another point; pixels beyond the layer stay.
// The shader that includes this defines `source`: where the pixel at q takes its colour from, both in px of the layer.
#include "effect.glsl"
#include "around.glsl"

const vec2 NOWHERE = vec2(-1e6);  // a source that is transparent

vec2 source(vec2 q);

void main() {
    vec2 q = place();
    if (!inside(q)) {
        put_through();
        return;
    }
    put(sampled(source(q)));
}
