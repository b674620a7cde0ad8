// Display-encoded R'G'B' in levels 0..255 to BT.709 code values of limited range, 0..255 (ITU-R BT.709-6, 3.2 to 3.5):
// Y' = 16 + 219 (0.2126 R' + 0.7152 G' + 0.0722 B'), C = 128 + 224 (colour - Y') / (2 (1 - its weight)), R'G'B' of 0..1.
// The weights are whole numbers in units of 2^-15 and 2^-16 of a code, and all sums are below 2^24. Single precision
// holds them exactly in any order of addition, so every GPU and the native kernels give the same codes.
// Before rounding they are within 0.04 of a code of the exact values.

float luma_code(vec3 levels) {
    return floor((dot(levels, vec3(5983.0, 20127.0, 2032.0)) + 16.5 * 32768.0) / 32768.0);
}

// `sums`: weighted levels of eight pixels, 0..2040.
vec2 chroma_code(vec3 sums) {
    vec2 codes = vec2(dot(sums, vec3(-824.0, -2774.0, 3598.0)), dot(sums, vec3(3598.0, -3268.0, -330.0)));
    return floor((codes + 128.5 * 65536.0) / 65536.0);
}
