// Arcsine of -1..1, within 2e-7. Software rasterisers are off by up to 0.0005, which is a visible part of a px.
// Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.46.
float arcsine(float x) {
    float a = abs(x), sum = -0.0012624911;
    sum = sum * a + 0.0066700901;
    sum = sum * a - 0.0170881256;
    sum = sum * a + 0.0308918810;
    sum = sum * a - 0.0501743046;
    sum = sum * a + 0.0889789874;
    sum = sum * a - 0.2145988016;
    sum = sum * a + 1.5707963050;
    return sign(x) * (1.5707963268 - sqrt(1.0 - a) * sum);
}
