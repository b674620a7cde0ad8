// A disc or a ring over the picture; inverted, the colour everywhere and a hole (format/effects.md 8.6).
#include "canvas.glsl"
#include "composite.glsl"

uniform float u_center_x;
uniform float u_center_y;
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

// A radial gradient of five stops (offset, alpha), which a browser sorts by their offsets, equal ones in order.
float ring(float d) {
    float inner = max(0.0, u_radius - u_thickness) / u_radius, soft = clamp(u_feather, 0.0, u_radius) / u_radius;
    vec2 stops[5] = vec2[](
        vec2(0.0), vec2(max(0.0, inner - 1e-4), 0.0), vec2(min(1.0, inner + soft), 1.0), vec2(max(0.0, 1.0 - soft), 1.0),
        vec2(1.0, 0.0));
    for (int i = 1; i < 5; i++) {
        for (int k = i; k > 0 && stops[k - 1].x > stops[k].x; k--) {
            vec2 held = stops[k];
            stops[k] = stops[k - 1];
            stops[k - 1] = held;
        }
    }
    float at = min(d / u_radius, 1.0), alpha = 0.0;
    for (int i = 1; i < 5; i++) {
        if (at < stops[i - 1].x || at >= stops[i].x) continue;
        alpha = mix(stops[i - 1].y, stops[i].y, (at - stops[i - 1].x) / (stops[i].x - stops[i - 1].x));
    }
    return (at >= 1.0 ? stops[4].y : alpha) * clamp(u_radius - d + 0.5, 0.0, 1.0);
}

void main() {
    float d = distance(place(), center() + vec2(u_center_x, u_center_y)), opacity = clamp(u_opacity / 100.0, 0.0, 1.0);
    float shape = u_radius <= 0.0 ? 0.0 : u_thickness > 0.0 ? ring(d) : disc(d);
    vec4 under = texelFetch(u_source, pixel(), 0), tone = vec4(u_color.rgb, 1.0) * u_color.a * opacity;
    int operation = int(floor(u_composite + 0.5));
    f_color = u_invert_circle ? composited(under, tone, operation) * (1.0 - shape * tone.a) : composited(under, tone * shape, operation);
}
