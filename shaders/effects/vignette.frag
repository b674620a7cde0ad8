// Darkens or brightens towards the corners (effects.md 8.5): over the whole frame on the GPU route, over the canvas
// on the raster route.
#include "effect.glsl"

uniform float u_amount;
uniform float u_size;
uniform float u_feather;
uniform float u_roundness;
uniform float u_center_x;
uniform float u_center_y;

void main() {
    vec2 away = (place() - center() - vec2(u_center_x, u_center_y)) / extent();
    float aspect = extent().x / extent().y;
    float oval = 2.0 * length(away), round_ = 2.0 * length(away * vec2(aspect, 1.0)) / length(vec2(aspect, 1.0));
    float d = mix(oval, round_, clamp(u_roundness / 100.0, 0.0, 1.0));
    float t = (d - clamp(u_size / 100.0, 0.0, 1.0)) / clamp(u_feather / 100.0, 0.001, 1.0);
    float amount = u_amount / 100.0;
#ifndef BAKED
    amount = clamp(amount, -1.0, 1.0);
#endif
    vec4 c = encoded_here();
    put_color(c, c.rgb * clamp(1.0 - amount * eased(t), 0.0, 4.0));
}
