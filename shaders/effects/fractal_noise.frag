// Cloudy grey noise (effects.md 8.6): gradient noise over the whole frame, as linear light, on the GPU route; value
// noise on a coarse grid, as sRGB, on a canvas.
#include "effect.glsl"
#include "hash.glsl"
#ifdef BAKED
#include "cubic.glsl"
#endif

uniform float u_scale;

#ifdef BAKED
// The grid has 256 cells along the longer side. It is stretched over the canvas. An image's canvas
// enlarges it by a cubic filter.
// CELLS: this pass makes the grid, and its pixels are cells. MEANS: u_means has the grid.
#ifdef MEANS
uniform sampler2D u_means;

float grid(ivec2 cell, vec2 cells) {
    return texelFetch(u_means, clamp(cell, ivec2(0), ivec2(cells) - 1), 0).r;
}
#else
float grid(ivec2 cell, vec2 cells) {
    vec2 p = clamp(vec2(cell), vec2(0.0), cells - 1.0);
    float frequency = max(1.0, u_scale) / 256.0, amplitude = 0.5, sum = 0.0;
    for (int octave = 0; octave < 4; octave++) {
        sum += amplitude * value_noise_a(p * frequency, ivec2(0));
        amplitude *= 0.5;
        frequency *= 2.0;
    }
    return floor(sum / 0.9375 * 255.0 + 0.5) / 255.0;
}
#endif

void main() {
    float longer = max(extent().x, extent().y);
    vec2 cells = max(vec2(8.0), floor(extent() / longer * 256.0 + 0.5));
#ifdef CELLS
    put(vec4(vec3(grid(pixel(), cells)), 1.0));
#else
    vec2 at = place() / extent() * cells - 0.5, corner = floor(at), part = at - corner;
    ivec2 c = ivec2(corner);
#ifdef MEANS
    float grey = 0.0;
    for (int i = 0; i < 16; i++) {
        ivec2 tap = ivec2(i % 4, i / 4) - 1;
        grey += cubic(float(tap.x) - part.x) * cubic(float(tap.y) - part.y) * grid(c + tap, cells);
    }
#else
    float grey = mix(mix(grid(c, cells), grid(c + ivec2(1, 0), cells), part.x),
        mix(grid(c + ivec2(0, 1), cells), grid(c + ivec2(1, 1), cells), part.x), part.y);
#endif
    put(vec4(vec3(grey), here().a));
#endif
}
#else
vec2 gradient(vec2 lattice) {
    vec3 a = fract(lattice.xyx * vec3(0.1031, 0.1030, 0.0973));
    a += dot(a, a.yzx + 33.33);
    return fract((a.xx + a.yz) * a.zy) * 2.0 - 1.0;
}

float corner_value(vec2 lattice, vec2 q) {
    return dot(gradient(lattice), q - lattice);
}

float noise(vec2 q) {
    vec2 c = floor(q), t = q - c;
    t = t * t * (3.0 - 2.0 * t);
    return mix(mix(corner_value(c, q), corner_value(c + vec2(1.0, 0.0), q), t.x),
        mix(corner_value(c + vec2(0.0, 1.0), q), corner_value(c + vec2(1.0, 1.0), q), t.x), t.y);
}

void main() {
    vec2 q = uv() * u_scale;
    float sum = 0.0, amplitude = 0.5;
    for (int octave = 0; octave < 4; octave++) {
        sum += amplitude * noise(q);
        amplitude *= 0.5;
        q *= 2.0;
    }
    float a = here().a;
    put(vec4(vec3(0.5 + 0.5 * sum) * a, a));
}
#endif
