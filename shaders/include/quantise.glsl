// Quantises all pixels below a blended layer to 8 linear bits (compositing.md 1.3).
// The result is rounded to the bits of a half float, so that it is the same whether it is stored in a target or not.

vec4 levels(vec4 channels) {
    vec4 level = floor(clamp(channels, 0.0, 1.0) * 255.0 + 0.5) * (1.0 / 255.0);
    return uintBitsToFloat((floatBitsToUint(level) + 0x1000u) & 0xffffe000u);
}

vec4 quantised(vec4 premultiplied) {
    vec4 c = levels(premultiplied);
    return vec4(min(c.rgb, c.a), c.a);
}
