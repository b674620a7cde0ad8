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

// Stops of a radial gradient: none may lie before the one that it follows.
float ring(float d) {
    float inner = max(0.0, u_radius - u_thickness), soft = clamp(u_feather, 0.0, u_radius);
    float full = min(u_radius, inner + soft), fading = max(u_radius - soft, full);
    float rise = full > inner ? clamp((d - inner) / (full - inner), 0.0, 1.0) : step(inner, d);
    float fall = u_radius > fading ? clamp((u_radius - d) / (u_radius - fading), 0.0, 1.0) : 1.0;
    return min(rise, fall) * clamp(u_radius - d + 0.5, 0.0, 1.0);
}

void main() {
    float d = distance(place(), center() + vec2(u_center_x, u_center_y)), opacity = clamp(u_opacity / 100.0, 0.0, 1.0);
    float shape = u_radius <= 0.0 ? 0.0 : u_thickness > 0.0 ? ring(d) : disc(d);
    vec4 under = texelFetch(u_source, pixel(), 0), tone = vec4(u_color.rgb, 1.0) * u_color.a * opacity;
    int operation = int(floor(u_composite + 0.5));
    f_color = u_invert_circle ? composited(under, tone, operation) * (1.0 - shape) : composited(under, tone * shape, operation);
}
