// Lights a texture into the picture: grain, canvas, waves or bricks (effects.md 8.9).
#include "effect.glsl"
#include "hash.glsl"

uniform float u_pattern;  // 0 grain, 1 canvas, 2 waves, 3 bricks
uniform float u_contrast, u_scale;  // percent
uniform float u_light_angle;        // degrees

float grain(vec2 p) {
    vec2 at = p / 4.0, corner = floor(at), part = at - corner;
    ivec2 c = ivec2(corner);
    float top = mix(h2(c.x, 733 * c.y), h2(c.x + 1, 733 * c.y), part.x);
    float bottom = mix(h2(c.x, 733 * (c.y + 1)), h2(c.x + 1, 733 * (c.y + 1)), part.x);
    return mix(top, bottom, part.y);
}

float texture_at(vec2 p) {
    int pattern = int(floor(u_pattern + 0.5));
    if (pattern <= 0) return grain(p);
    if (pattern == 1)
        return 0.5 + 0.30 * sin(3.7 * p.x) * sin(3.9 * p.y)
            + 0.18 * (h2(int(floor(2.0 * p.x)), 977 * int(floor(2.0 * p.y))) - 0.5);
    if (pattern == 2) return 0.5 + 0.25 * sin(0.9 * p.x) + 0.25 * sin(0.9 * p.y);
    float row = floor(p.y / 8.0);
    vec2 brick = mod(p + vec2(mod(row, 2.0) * 8.0, 0.0), vec2(16.0, 8.0));
    return brick.x < 1.0 || brick.y < 1.0 ? 0.0 : 0.7;
}

void main() {
    vec2 light = vec2(cos(radians(u_light_angle)), -sin(radians(u_light_angle)));
    // The light's offset is one canvas pixel, added before the scale.
    vec2 p = vec2(pixel());
    float scale = 100.0 / max(10.0, u_scale);
    float shade = 1.0 + u_contrast / 100.0 * (texture_at((p + light) * scale) - texture_at((p - light) * scale));
    vec4 c = here();
    put_color(c, c.rgb * shade);
}
