// Woven threads, with transparent gaps between them (effects.md 8.9).
#include "effect.glsl"

uniform float u_thickness, u_spacing;  // px
uniform float u_depth;                 // percent

void main() {
    float thick = max(2.0, floor(u_thickness + 0.5)), period = thick + max(0.0, floor(u_spacing + 0.5));
    vec2 q = vec2(pixel()), cell = quotient(q, vec2(period)), part = q - cell * period;
    bool upright = part.x < thick, level = part.y < thick;
    if (!upright && !level) {
        put_erased();
        return;
    }
    bool upright_on_top = upright && (!level || mod(cell.x + cell.y, 2.0) < 0.5);
    float across = upright_on_top ? part.x : part.y, under = upright_on_top ? part.y : part.x;
    float shade = 0.55 + 0.45 * sin(PI * (across + 0.5) / thick);
    if (upright && level && (under < 1.5 || under > thick - 2.5)) shade *= 1.0 - 0.6 * u_depth / 100.0;
    vec4 c = here();
    put_color(c, c.rgb * shade);
}
