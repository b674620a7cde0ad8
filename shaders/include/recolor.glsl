// A change of colours alone: every pixel keeps its alpha.
// The including shader defines `changed`, the new colour of an encoded straight one.
#include "effect.glsl"

vec3 changed(vec3 c);

void main() {
    vec4 c = encoded_here();
    put_color(c, changed(c.rgb));
}
