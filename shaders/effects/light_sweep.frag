// A band of light across the layer (effects.md 8.6): within its alpha, in fractions of the frame, on the GPU route, where the
// alpha of u_color is the intensity; a gradient over the canvas, by a composite code, on the raster route.
#include "effect.glsl"
#ifdef BAKED
#include "composite.glsl"
#endif

uniform float u_position;
uniform float u_sweep_width;
uniform float u_angle;
uniform float u_softness;
uniform vec4 u_color;

#ifdef BAKED
uniform float u_intensity;
uniform float u_composite;

// Alpha across the band, at five stops: 0, 1/2, 1, 1/2, 0.
float profile(float t) {
    float hard = 0.5 - 0.5 * (1.0 - u_softness / 100.0), low = max(0.001, hard);
    float s = 0.5 - abs(t - 0.5);
    return s < low ? 0.5 * max(0.0, s) / low : mix(0.5, 1.0, clamp((s - low) / max(1e-4, 0.5 - low), 0.0, 1.0));
}

void main() {
    vec2 dir = direction(u_angle);
    float span = abs(extent().x * dir.x) + abs(extent().y * dir.y);
    vec2 middle = center() + dir * (u_position / 100.0 - 0.5) * span;
    float t = dot(place() - middle, dir) / max(0.5, u_sweep_width) + 0.5;
    vec4 light = vec4(u_color.rgb, 1.0) * u_color.a * profile(t) * clamp(u_intensity / 100.0, 0.0, 1.0);
    f_color = composited(texelFetch(u_source, pixel(), 0), dithered(light), int(floor(u_composite + 0.5)));
}
#else
void main() {
    vec4 box = u_box / u_frame_size.xyxy;
    vec2 dir = direction(u_angle);
    float span = abs(box.z * dir.x) + abs(box.w * dir.y);
    vec2 middle = box.xy + 0.5 * box.zw + dir * (u_position / 100.0 - 0.5) * span;
    float px = 0.5 * (1.0 / u_frame_size.x + 1.0 / u_frame_size.y);
    float half_width = 0.5 * max(0.5, u_sweep_width * u_length_scale.x) * px;
    float t = clamp(dot(uv() - middle, dir) / (2.0 * half_width) + 0.5, 0.0, 1.0);
    float hard = clamp(1.0 - u_softness / 100.0, 0.001, 1.0);  // softness 0 gives a step, for which smoothstep is undefined
    float p = u_color.a * (1.0 - ramp(hard, 1.0, 2.0 * abs(t - 0.5)));
    vec4 c = here();
    put(vec4(c.rgb + srgb_to_linear(u_color.rgb) * p * c.a, c.a));
}
#endif
