// Turns the picture over like a twisted band: each column is squeezed about a line (effects.md 8.11).
#include "effect.glsl"

uniform float u_completion;  // percent
uniform float u_center_y;    // px from the canvas centre
uniform float u_twist;       // degrees

void main() {
    float t = u_completion / 100.0, column = float(pixel().x);
    float wave = sin(2.0 * PI * column / max(extent().x - 1.0, 1.0));
    float angle = clamp(90.0 * t + 0.5 * t * (1.0 - t) * u_twist * wave, 0.0, 90.0);
    float squeeze = cos(radians(angle)), middle = center().y + u_center_y;
    if (t >= 1.0 || squeeze <= 0.02) {
        put_erased();
        return;
    }
    float row = floor(middle + (place().y - middle) / squeeze);
    vec4 c = texel(ivec2(pixel().x, int(clamp(row, -1.0, extent().y))));
    put(vec4(c.rgb * (0.6 + 0.4 * squeeze), c.a));
}
