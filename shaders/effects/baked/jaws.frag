// Opens along a row of teeth: the two halves move apart (effects.md 8.11).
#include "effect.glsl"

uniform float u_completion;  // percent
uniform float u_direction;   // degrees
uniform float u_teeth_height, u_teeth_width;  // px

float tooth(float along) {
    float phase = fract(along / max(2.0, u_teeth_width)), height = max(1.0, u_teeth_height);
    return height * ((phase < 0.5 ? 2.0 * phase : 2.0 - 2.0 * phase) - 0.5);
}

void main() {
    vec2 dir = direction(u_direction), normal = vec2(-dir.y, dir.x), d = place() - center();
    float shift = u_completion / 100.0 * (0.5 * dot(extent(), abs(normal)) + u_teeth_height);
    float edge = tooth(dot(d, dir));  // the halves move along the normal, so the source point has the same tooth
    bool lower = dot(d, normal) >= edge;
    vec2 q = d - normal * (lower ? shift : -shift);
    ivec2 p = ivec2(floor(q + center()));
    bool is_same_half = (dot(q, normal) >= edge) == lower;
    if (is_same_half && on_canvas(p)) {
        put(texel(p));
    } else {
        put_erased();
    }
}
