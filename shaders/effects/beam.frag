// A beam of light from one point to another (effects.md 8.6): measured in fractions of the frame and added in linear light on
// the GPU route; in px, added to the encoded colours, on a canvas.
#include "effect.glsl"
#ifdef BAKED
#include "composite.glsl"
#endif

uniform float u_length;
uniform float u_start_x;
uniform float u_start_y;
uniform float u_end_x;
uniform float u_end_y;
uniform float u_thickness;
uniform float u_softness;
uniform vec4 u_color;

// Position along the beam, and distance from it.
vec2 measured(vec2 at, vec2 corner, vec2 size) {
    vec2 p = corner + vec2(u_start_x, u_start_y) / 100.0 * size, q = corner + vec2(u_end_x, u_end_y) / 100.0 * size;
    float len = u_length / 100.0;
    vec2 head = p + (q - p) * len, tail = p + (q - p) * max(0.0, len - 0.35), along = head - tail;
    float t = clamp(dot(at - tail, along) / max(dot(along, along), 1e-12), 0.0, 1.0);
    return vec2(t, length(at - tail - t * along));
}

float covered(float radius, float px, float d) {
    return 1.0 - smoothstep(radius - px, radius + px, d);
}

#ifdef BAKED
void main() {
    vec2 at = measured(place(), vec2(0.0), extent());
    float core = 0.5 * u_thickness, soft = core * (1.0 + 3.0 * u_softness / 100.0);
    vec4 c = texelFetch(u_source, pixel(), 0), light = vec4(u_color.rgb, 1.0) * u_color.a * at.x * float(u_length > 0.0);
    c = composited(c, dithered(0.35 * light) * clamp(soft - at.y + 0.5, 0.0, 1.0), LIGHTER);
    f_color = composited(c, dithered(light) * clamp(core - at.y + 0.5, 0.0, 1.0), LIGHTER);
}
#else
void main() {
    vec4 box = u_box / u_frame_size.xyxy;
    vec2 at = measured(uv(), box.xy, box.zw);
    float px = 0.5 * (1.0 / u_frame_size.x + 1.0 / u_frame_size.y);
    float core = 0.5 * max(0.5, u_thickness * u_length_scale.x) * px, soft = core * (1.0 + 3.0 * u_softness / 100.0);
    float m = at.x * (0.35 * covered(soft, px, at.y) + covered(core, px, at.y));
    vec4 c = here();
    put(vec4(c.rgb + srgb_to_linear(u_color.rgb) * m, min(1.0, c.a + m)));
}
#endif
