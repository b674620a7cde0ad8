// Draws a layer as a pane of glass: the backdrop refracted, tinted and lit at the rims (compositing.md 8.2).
// u_layer: linear premultiplied; only its alpha is used, quantised to 8 bits. u_backdrop: linear premultiplied;
// its coordinates are frame pixels times u_backdrop_scale. out: linear premultiplied, source-over.
#include "frame.glsl"
#include "color.glsl"
#include "formulas.glsl"

out vec4 o_color;

uniform sampler2D u_layer;
uniform vec4 u_layer_region;
uniform sampler2D u_backdrop;
uniform vec4 u_backdrop_region;
uniform float u_backdrop_scale;
uniform vec2 u_frame_size;
uniform vec2 u_pixel_size;  // 1 / u_frame_size
uniform float u_saturation;
uniform vec4 u_tint;        // raw encoded numbers; alpha is the tint's opacity
uniform vec3 u_rim_color;   // raw encoded numbers
uniform vec4 u_lengths;     // edge width, refraction, chromatic aberration in px, rim gain
uniform vec4 u_lights;      // rim angle and specular angle in radians, specular intensity, falloff
uniform float u_rim_opacity;
uniform float u_grain;

// Beyond the frame's edge the last pixel repeats.
float alpha(vec2 at) {
    vec2 frame = clamp(at, vec2(0.5), u_frame_size - 0.5);
    if (!holds_frame(u_layer_region, frame)) {
        return 0.0;
    }
    return to_8_bits(sample_of(u_layer, u_layer_region, frame).a);
}

vec3 backdrop(vec2 frame) {
    return sample_of(u_backdrop, u_backdrop_region, frame * u_backdrop_scale).rgb;
}

// Directions are measured upwards in the reference's export: 315 degrees lights the top left rim.
vec2 light(float angle) {
    return vec2(cos(angle), -sin(angle));
}

float grain(vec2 frame) {
    // by the reciprocal, like interpolated coordinates: the hash depends on their last bits
    EXACT vec2 uv = vec2(frame.x, u_frame_size.y - frame.y) * u_pixel_size;
    EXACT vec2 scaled = 1024.0 * uv * vec2(123.34, 456.21);
    EXACT vec2 q = scaled - floor(scaled);
    EXACT float along = q.x * (q.x + 45.32) + q.y * (q.y + 45.32);
    q += along;
    return fract(q.x * q.y);
}

void main() {
    float e = max(1.0, u_lengths.x);
    float a = alpha(v_frame);
    vec2 g = vec2(alpha(v_frame + vec2(e, 0.0)) - alpha(v_frame - vec2(e, 0.0)),
                  alpha(v_frame + vec2(0.0, e)) - alpha(v_frame - vec2(0.0, e)));
    float m = length(g);
    vec2 d = m > 1e-5 ? g / m : vec2(0.0);
    vec2 bend = -d * u_lengths.y * m, split = d * u_lengths.z * m;
    vec3 rgb = vec3(backdrop(v_frame + bend + split).r, backdrop(v_frame + bend).g, backdrop(v_frame + bend - split).b);
    float luma = luma709(rgb);
    rgb = clamp(luma + (rgb - luma) * u_saturation, 0.0, 1.0);
    rgb = mix(rgb, u_tint.rgb, u_tint.a);
    float k = smoothstep(0.0, 1.0, m * max(0.01, u_lengths.w));
    rgb += u_rim_color * k * (0.5 + 0.5 * dot(d, light(u_lights.x))) * u_rim_opacity;
    rgb += pow(max(0.0, dot(d, light(u_lights.y))), u_lights.w) * k * u_lights.z;
    rgb = clamp(rgb + (grain(v_frame) - 0.5) * u_grain, 0.0, 1.0);
    o_color = vec4(rgb * a, a);
}
