// Canvas composite operations on encoded premultiplied colours (effects.md 4.3).

vec4 composited(vec4 under, vec4 over, int operation) {
    if (operation == 1) return min(under + over, 1.0);
    if (operation == 4) return vec4(over.rgb * under.a + under.rgb * (1.0 - over.a), under.a);
    vec3 mixed = over.rgb + under.rgb * (1.0 - over.a);
    if (operation == 2) mixed = over.rgb + under.rgb * (1.0 - over.rgb);
    if (operation == 3) mixed = over.rgb * under.rgb + over.rgb * (1.0 - under.a) + under.rgb * (1.0 - over.a);
    return vec4(mixed, over.a + under.a * (1.0 - over.a));
}
