// Alpha projected away from a lamp: the shadow of radial-shadow before it is softened, in all channels (effects.md
// 8.2).
#include "canvas.glsl"

uniform float u_light_x;
uniform float u_light_y;
uniform float u_projection;

void main() {
    vec2 lamp = center() + vec2(u_light_x, u_light_y);
    vec2 q = lamp + (place() - lamp) / (1.0 + max(0.0, u_projection) / 100.0);
    f_color = vec4(texel(ivec2(trunc(q))).a * float(q.x > -1.0 && q.y > -1.0));
}
