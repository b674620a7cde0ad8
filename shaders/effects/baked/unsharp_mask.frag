// Raises pixels whose difference from u_soft, the blurred picture, is above a threshold (effects.md 8.1).
#include "canvas.glsl"

uniform sampler2D u_soft;  // straight
uniform float u_amount;
uniform float u_threshold;

void main() {
    vec4 c = here();
    vec3 d = c.rgb - texelFetch(u_soft, pixel(), 0).rgb;
    put_color(c, c.rgb + d * u_amount / 100.0 * vec3(greaterThan(floor(abs(d) * 255.0 + 0.5), vec3(u_threshold))));
}
