// A disc or a ring over the picture. Inverted: the colour everywhere, with a hole (effects.md 8.6).
#include "canvas.glsl"
#include "composite.glsl"
#include "middle.glsl"

uniform float u_radius;
uniform vec4 u_color;
uniform float u_opacity;
uniform float u_feather;
uniform float u_thickness;
uniform bool u_invert_circle;
uniform float u_composite;

float disc(float d) {
    float soft = clamp(u_feather, 0.0, u_radius), edge = clamp(u_radius - d + 0.5, 0.0, 1.0);
    return soft > 0.0 ? edge * clamp((u_radius - d) / soft, 0.0, 1.0) : edge;
}

// Radial gradient of five stops (offset, alpha) in any order. A browser sorts them by offset, keeping the order of
// equal ones.
float ring(float d) {
    float inner = max(0.0, u_radius - u_thickness) / u_radius, soft = clamp(u_feather, 0.0, u_radius) / u_radius;
    vec2 stops[5] = vec2[5](
        vec2(0.0, 0.0), vec2(max(0.0, inner - 1e-4), 0.0), vec2(min(1.0, inner + soft), 1.0),
        vec2(max(0.0, 1.0 - soft), 1.0), vec2(1.0, 0.0));
    float at = min(d / u_radius, 1.0);
    vec2 below = stops[0], above = stops[4];
    for (int i = 1; i < 4; i++) {
        if (stops[i].x <= at && stops[i].x >= below.x) below = stops[i];
    }
    for (int i = 3; i > 0; i--) {
        if (stops[i].x > at && stops[i].x <= above.x) above = stops[i];
    }
    float share = above.x > below.x ? (at - below.x) / (above.x - below.x) : 1.0;
    return mix(below.y, above.y, share) * clamp(u_radius - d + 0.5, 0.0, 1.0);
}

void main() {
    float d = distance(place(), middle());
    float shape = u_radius <= 0.0 ? 0.0 : u_thickness > 0.0 ? ring(d) : disc(d);
    vec4 under = texelFetch(u_source, pixel(), 0), tone = vec4(u_color.rgb, 1.0) * to_8_bits(u_color.a * u_opacity / 100.0);
    int operation = int(floor(u_composite + 0.5));
    bool is_gradient = (u_feather > 0.0 || u_thickness > 0.0) && shape > 0.0;
    f_color = u_invert_circle
        ? rounded_up(composited(under, as_bytes(tone), operation)) * (1.0 - shape * tone.a)
        : composited(under, is_gradient ? dithered(tone * shape) : tone * shape, operation);
}
