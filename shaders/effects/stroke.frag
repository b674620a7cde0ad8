// An outline outside the alpha: the largest alpha within a disc of at most 16 px (effects.md 8.2). The opacity, the
// alpha of u_color, counts twice.
#include "chain.glsl"
#include "around.glsl"

uniform float u_width;
uniform vec4 u_color;

void main() {
    float width = u_width * u_length_scale;
    int reach = int(clamp(width, 1.0, 16.0));
    vec4 c = here();
    float most = c.a;
    for (int dy = -reach; dy <= reach && most < 1.0; dy++) {
        for (int dx = -reach; dx <= reach && most < 1.0; dx++) {
            if (float(dx * dx + dy * dy) <= width * width) most = max(most, frame_at(v_frame + vec2(dx, dy)).a);
        }
    }
    float q = u_color.a, edge = (most - c.a) * q;
    put((1.0 - edge) * c + edge * q * vec4(srgb_to_linear(u_color.rgb), 1.0));
}
