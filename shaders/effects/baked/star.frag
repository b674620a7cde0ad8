// Light of a star: a core, a cross of two long rays, two shorter diagonal ones (effects.md 8.6). Colours of
// stars add up. The alpha of a pixel is that of its brightest star.
#include "canvas.glsl"

uniform vec4 u_mark;  // canvas px: its centre and its size; its strength
uniform vec2 u_under; // canvas px: the pixel whose colour is mixed in
uniform vec4 u_tint;

const float LEAST = 0.003;

float ray(float along, float across, float length, float width) {
    float fade = max(1.0 - abs(along) / length, 0.0);
    return exp(-across * across / (width * width)) * fade * fade;
}

void main() {
    vec2 away = v_frame - u_mark.xy, diagonal = vec2(away.x + away.y, away.x - away.y) / sqrt(2.0);
    float size = u_mark.z, core = max(0.5, 0.5 * size), width = max(0.4, 0.22 * size);
    float cross_light = ray(away.x, away.y, 4.0 * size, width) + ray(away.y, away.x, 4.0 * size, width);
    float between = ray(diagonal.x, diagonal.y, 2.0 * size, width) + ray(diagonal.y, diagonal.x, 2.0 * size, width);
    float light = exp(-dot(away, away) / (core * core)) + 0.85 * cross_light + 0.35 * between;
    float strength = clamp(light * u_mark.w, 0.0, 1.0);
    if (strength <= LEAST) discard;
    vec4 under = straight_at(ivec2(u_under));
    vec3 color = under.a > 8.0 / 255.0 ? 0.5 * (u_tint.rgb + under.rgb) : u_tint.rgb;
    f_color = vec4(color * strength, strength);
}
