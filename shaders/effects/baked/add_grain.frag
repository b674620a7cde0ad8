// Film grain, strongest in the midtones (effects.md 8.7).
#include "canvas.glsl"
#include "sine_noise.glsl"

uniform float u_intensity;
uniform float u_saturation;

void main() {
    vec4 c = here();
    if (c.a == 0.0) {
        put_through();
        return;
    }
    float l = luma601(c.rgb), kick = u_intensity / 100.0 * 4.0 * l * (1.0 - l) * 128.0 / 255.0;
    vec3 n = vec3(2.0 * sine_noise(0, pixel()) - 1.0);
    if (u_saturation != 0.0) {
        vec3 own = vec3(sine_noise(1, pixel()), sine_noise(2, pixel()), sine_noise(3, pixel()));
        n = mix(n, 2.0 * own - 1.0, u_saturation / 100.0);
    }
    put(vec4(c.rgb + n * kick, c.a));
}
