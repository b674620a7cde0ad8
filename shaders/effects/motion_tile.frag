// Repeats the frame in tiles (effects.md 8.8).
#include "chain.glsl"
#include "around.glsl"

uniform float u_scale;

void main() {
    put(buffer_at(fract(uv() * u_scale) * u_frame_size));
}
