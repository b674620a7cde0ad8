// Billowing grey noise (effects.md 8.6).
#include "canvas.glsl"
#include "sine_noise.glsl"

uniform int u_octaves;
uniform float u_contrast;
uniform float u_brightness;
uniform bool u_invert;

void main() {
    float sum = 0.0, weights = 0.0, weight = 1.0;
    for (int k = 0; k < u_octaves; k++) {
        sum += weight * 2.0 * abs(sine_noise(k, pixel()) - 0.5);
        weights += weight;
        weight *= 0.5;
    }
    float v = (sum / weights - 0.5) * u_contrast / 100.0 + 0.5 + u_brightness / 100.0;
    put_color(here(), vec3(u_invert ? 1.0 - v : v));
}
