// Colour: sRGB transfer (compositing.md 1.2) and premultiplication. Linear light, Rec.709 primaries.

// Both curves as polynomials, of the colour or of its fourth root. `pow` alone costs software
// rasterisers twice as much as a whole pass.
// Within 0.02 of an 8-bit level of the exact curves for colours of 0..1 (tests/gpu_renderer/test_color.py).
vec3 srgb_to_linear(vec3 c) {
    vec3 square = c * c, high = (c * 0.0830104553 - 0.299013667) * square + (c * 0.661667547 + 0.520807502);
    vec3 curve = high * square + (c * 0.0326089217 + 0.000920741187);  // above 1 for white, because half floats are truncated
    return mix(c / 12.92, curve, step(0.04045, c));
}

vec3 linear_to_srgb(vec3 c) {
    vec3 root = sqrt(max(c, 0.0)), fourth_root = sqrt(root);
    vec3 curve = (0.0784710667 * c + 1.11754013 * root - 0.0648011928) + fourth_root * (0.197816495 - 0.3290263 * root);
    return mix(12.92 * c, curve, step(0.0031308, c));
}

// Straight colour of a premultiplied texel. Alpha below 1/255 becomes 0, colours stay within 0..1 (compositing.md 1.4).
vec4 straight(vec4 t) {
    return t.a < 1.0 / 255.0 ? vec4(0.0) : vec4(clamp(t.rgb / t.a, 0.0, 1.0), t.a);
}

vec4 premultiplied(vec4 c) {
    return vec4(c.rgb * c.a, c.a);
}

// Numbers of 0..1, rounded to 8 bits.
float to_8_bits(float number) {
    return floor(clamp(number, 0.0, 1.0) * 255.0 + 0.5) / 255.0;
}

vec4 to_8_bits(vec4 numbers) {
    return floor(clamp(numbers, 0.0, 1.0) * 255.0 + 0.5) / 255.0;
}

// `straight` of a texel, premultiplied again, without divisions.
vec4 resampled(vec4 t) {
    return t.a < 1.0 / 255.0 ? vec4(0.0) : vec4(clamp(t.rgb, 0.0, t.a), t.a);
}
