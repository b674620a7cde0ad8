// Colour: sRGB transfer (format/compositing.md 1.2) and premultiplication. Linear light, Rec.709 primaries.

vec3 srgb_to_linear(vec3 c) {
    return mix(c / 12.92, pow(max((c + 0.055) / 1.055, 0.0), vec3(2.4)), step(0.04045, c));
}

vec3 linear_to_srgb(vec3 c) {
    return mix(12.92 * c, 1.055 * pow(max(c, 0.0), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

// The straight colour of a premultiplied texel; tails under 1/255 vanish, colours are at most 1 (compositing.md 1.4).
vec4 straight(vec4 t) {
    return t.a < 1.0 / 255.0 ? vec4(0.0) : vec4(min(t.rgb / t.a, 1.0), t.a);
}

vec4 premultiplied(vec4 c) {
    return vec4(c.rgb * c.a, c.a);
}
