// The reflections of a bright light in a lens (effects.md 8.6): measured in fractions of the frame and added in linear light
// on the GPU route; in px, added to the encoded colours and to the alpha, on a canvas.
#include "effect.glsl"
#ifdef BAKED
#include "composite.glsl"
#endif

uniform float u_center_x;
uniform float u_center_y;
uniform float u_brightness;
uniform float u_scale;
uniform vec4 u_color;

// On a canvas lights are gradients with linear ramps.
float disc(float inner, float outer, float d) {
#ifdef BAKED
    return 1.0 - clamp((d - inner) / (outer - inner), 0.0, 1.0);
#else
    return 1.0 - smoothstep(inner, outer, d);
#endif
}

// Core of a flare of brightness 1: its light in the flare's colour, and its white light. On a canvas it is one gradient of
// straight colours, from white at 95 % to the flare's colour at 50 % at half its radius.
vec2 core_of(float core, float d) {
    float fading = disc(0.5 * core, core, d);
#ifdef BAKED
    float tinted = clamp(d / (0.5 * core), 0.0, 1.0);
    return fading * mix(0.95, 0.5, tinted) * vec2(tinted, 1.0 - tinted);
#else
    return vec2(0.5 * fading, 0.95 * disc(0.0, 0.5 * core, d));
#endif
}

// Light in the flare's colour, and the white light of its core, at a position. All lengths have one unit.
vec2 flare(vec2 at, vec2 middle, vec2 lamp, float size) {
    const vec2 GHOSTS[7] = vec2[7](vec2(-0.35, 0.09), vec2(0.25, 0.05), vec2(0.55, 0.13), vec2(0.8, 0.07),
        vec2(1.15, 0.045), vec2(1.45, 0.1), vec2(1.9, 0.06));
    float core = 0.06 * size, corona = 0.35 * size, streak = max(0.12 * core, 1e-6), b = u_brightness / 100.0;
    vec2 side = abs(at - lamp);
    float d = length(side);
    float veil = d < 0.25 * corona ? mix(0.55, 0.18, d / (0.25 * corona)) : 0.18 * clamp((corona - d) / (0.75 * corona), 0.0, 1.0);
    float tinted = veil + 0.35 * (1.0 - eased(side.x / corona)) * (1.0 - eased(side.y / streak));
    for (int k = 0; k < 7; k++) {
        float t = GHOSTS[k].x, r = size * GHOSTS[k].y, e = length(at - lamp - 2.0 * t * (middle - lamp));
        tinted += 0.14 * (1.0 - abs(t) / 2.2) * (disc(0.0, 0.7 * r, e) + 0.5 * disc(0.7 * r, r, e));
    }
    return b * (vec2(tinted, 0.0) + core_of(core, d));
}

#ifdef BAKED
void main() {
    float size = max(extent().x, extent().y) * max(0.05, u_scale);
    vec2 light = flare(place(), center(), center() + vec2(u_center_x, u_center_y), size);
    vec4 added = clamp(vec4(u_color.rgb * light.x + light.y, light.x + light.y), 0.0, 1.0);
    f_color = composited(texelFetch(u_source, pixel(), 0), added, LIGHTER);
}
#else
void main() {
    vec2 middle = (u_box.xy + 0.5 * u_box.zw) / u_frame_size, box = u_box.zw / u_frame_size;
    vec2 lamp = middle + vec2(u_center_x, u_center_y) * u_length_scale / u_frame_size;
    vec2 amounts = flare(uv(), middle, lamp, max(box.x, box.y) * max(0.05, u_scale));
    vec3 light = srgb_to_linear(u_color.rgb) * amounts.x + amounts.y;
    vec4 c = here();
    put(vec4(c.rgb + light, min(1.0, c.a + max(light.r, max(light.g, light.b)))));
}
#endif
