// Display-encoded R'G'B' (0..1) to BT.709 code values of limited range, 0..255 (ITU-R BT.709-6, 3.2 to 3.5):
// Y' = 16 + 219 (0.2126 R' + 0.7152 G' + 0.0722 B'), C = 128 + 224 (colour - Y') / (2 (1 - its weight)).

const vec3 LUMA = vec3(0.2126, 0.7152, 0.0722);

float luma_code(vec3 rgb) {
    return 16.0 + 219.0 * dot(rgb, LUMA);
}

vec2 chroma_code(vec3 rgb) {
    float y = dot(rgb, LUMA);
    return 128.0 + 224.0 * vec2((rgb.b - y) / 1.8556, (rgb.r - y) / 1.5748);
}

// The 8-bit value of a code, as a normalised target stores it. Rounded here, so that no driver's own rounding counts.
vec4 stored(vec4 code) {
    return floor(code + 0.5) / 255.0;
}
