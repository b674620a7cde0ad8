// Maps colours by a table in sRGB: interpolates the eight nearest steps, or maps each channel (effects.md 8.5).
#include "canvas.glsl"

uniform sampler2D u_table;
uniform int u_size;
uniform vec3 u_domain_min;
uniform vec3 u_domain_max;
uniform float u_intensity;

vec3 step_(ivec3 s) {
    return texelFetch(u_table, ivec2(s.b * u_size + s.r, s.g), 0).rgb;
}

vec3 volume(vec3 at) {
    ivec3 low = ivec3(floor(at)), high = min(low + 1, ivec3(u_size - 1));
    vec3 t = at - floor(at);
    vec3 near = mix(mix(step_(low), step_(ivec3(high.r, low.gb)), t.r),
        mix(step_(ivec3(low.r, high.g, low.b)), step_(ivec3(high.rg, low.b)), t.r), t.g);
    vec3 far = mix(mix(step_(ivec3(low.rg, high.b)), step_(ivec3(high.r, low.g, high.b)), t.r),
        mix(step_(ivec3(low.r, high.gb)), step_(high), t.r), t.g);
    return mix(near, far, t.b);
}

float line(float at, int channel) {
    int low = int(floor(at)), high = min(low + 1, -u_size - 1);
    return mix(texelFetch(u_table, ivec2(low, 0), 0)[channel], texelFetch(u_table, ivec2(high, 0), 0)[channel], fract(at));
}

void main() {
    vec4 c = here();
    vec3 at = clamp((c.rgb - u_domain_min) / (u_domain_max - u_domain_min), 0.0, 1.0) * float(abs(u_size) - 1);
    vec3 rgb = u_size > 0 ? volume(at) : vec3(line(at.r, 0), line(at.g, 1), line(at.b, 2));
    put_color(c, mix(c.rgb, rgb, clamp(u_intensity / 100.0, 0.0, 1.0)));
}
