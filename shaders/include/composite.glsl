// Canvas composite operations on encoded premultiplied colours, with their codes (effects.md 4.3).
const int SOURCE_OVER = 0;
const int LIGHTER = 1;
const int SCREEN = 2;
const int MULTIPLY = 3;
const int SOURCE_ATOP = 4;

vec4 composited(vec4 under, vec4 over, int operation) {
    if (operation == LIGHTER) return min(under + over, 1.0);
    if (operation == SOURCE_ATOP) return vec4(over.rgb * under.a + under.rgb * (1.0 - over.a), under.a);
    vec3 mixed = over.rgb + under.rgb * (1.0 - over.a);
    if (operation == SCREEN) mixed = over.rgb + under.rgb * (1.0 - over.rgb);
    if (operation == MULTIPLY) mixed = over.rgb * under.rgb + over.rgb * (1.0 - under.a) + under.rgb * (1.0 - over.a);
    return vec4(mixed, over.a + under.a * (1.0 - over.a));
}
