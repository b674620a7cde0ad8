// Rounds a colour like a store into a target and a load from it, so that a joined pass reads what a separate pass
// would.
// STORE: 0 floats; 1 half floats truncated towards zero; 2 half floats rounded by packHalf2x16.

#if STORE == 1
vec4 stored(vec4 c) {
    uvec4 bits = floatBitsToUint(c), size = bits & 0x7fffffffu;
    vec4 cut = uintBitsToFloat((bits & 0x80000000u) | (min(size, uvec4(0x477fe000u)) & 0xffffe000u));
    vec4 small = trunc(c * 16777216.0) / 16777216.0;  // half floats of less than full precision lie 2^-24 apart
    vec4 finite = mix(cut, small, lessThan(abs(c), vec4(6.103515625e-05)));
    return mix(finite, c, greaterThanEqual(size, uvec4(0x7f800000u)));
}
#elif STORE == 2
vec4 stored(vec4 c) {
    return vec4(unpackHalf2x16(packHalf2x16(c.xy)), unpackHalf2x16(packHalf2x16(c.zw)));
}
#else
vec4 stored(vec4 c) {
    return c;
}
#endif
