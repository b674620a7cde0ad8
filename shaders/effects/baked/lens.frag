// Shows the picture in a glass ball, transparent outside (effects.md 8.8).
#include "effect.glsl"
#include "arcsine.glsl"

uniform float u_center_x, u_center_y;   // px from the canvas centre
uniform float u_size, u_convergence;    // percent

void main() {
    vec2 v = place() - center() - vec2(u_center_x, u_center_y);
    float ball = max(4.0, u_size / 100.0 * 0.5 * min(extent().x, extent().y)), d = length(v);
    if (d > ball) {
        put_erased();
        return;
    }
    float pull = ball + (length(center()) - ball) * clamp(u_convergence / 100.0, 0.0, 1.0);
    vec2 dir = d > 0.0 ? v / d : vec2(0.0);
    put(sampled(center() + dir * pull * (2.0 / PI) * arcsine(clamp(d / ball, 0.0, 1.0))));
}
