// Colours through a packed table, linear in and out (effects.md 8.5). u_table: slices of blue side by side; u_size:
// steps an axis. The reference uses the intensity as the table kind: above 1/2 each channel reads along the
// whole strip, else the slices are read as intended.
#include "chain.glsl"

uniform sampler2D u_table;
uniform int u_size;
uniform vec2 u_domain;
uniform float u_intensity;

float along(float c) {
    float n = float(u_size);
    return (c * (n - 1.0) + 0.5) / n;
}

// Table at texture coordinates, in float: GPUs filter with fractions of 1/256, and a table can be steep.
vec3 tabled(vec2 at) {
    vec2 size = vec2(textureSize(u_table, 0));
    return sample_of(u_table, vec4(0.0, 0.0, size), at * size).rgb;
}

vec3 slice(vec3 c, float blue) {
    float n = float(u_size);
    return tabled(vec2((blue * n + c.r * (n - 1.0) + 0.5) / (n * n), (c.g * (n - 1.0) + 0.5) / n));
}

void main() {
    vec4 c = here();
    vec3 rgb = c.a > 0.0 ? c.rgb / c.a : vec3(0.0);
    rgb = clamp((clamp(rgb, 0.0, 1.0) - u_domain.x) / (u_domain.y - u_domain.x), 0.0, 1.0);
    if (u_intensity > 50.0) {
        rgb = vec3(tabled(vec2(along(rgb.r), 0.5)).r, tabled(vec2(along(rgb.g), 0.5)).g, tabled(vec2(along(rgb.b), 0.5)).b);
    } else {
        float blue = rgb.b * float(u_size - 1), low = floor(blue);
        rgb = mix(slice(rgb, low), slice(rgb, min(low + 1.0, float(u_size - 1))), blue - low);
    }
    put(vec4(rgb * c.a, c.a));
}
