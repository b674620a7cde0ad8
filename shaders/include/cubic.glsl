// Cubic filter of Mitchell and Netravali (B = C = 1/3), with which a browser enlarges and rotates pictures on the
// canvas of an image layer, whose smoothing quality is high (effects.md 8.6).

uniform bool u_is_image;  // the canvas is that of an image

// Weight of a texel at a distance.
float cubic(float x) {
    x = abs(x);
    if (x < 1.0) return ((7.0 * x - 12.0) * x * x + 16.0 / 3.0) / 6.0;
    return x < 2.0 ? ((12.0 - 7.0 / 3.0 * x) * x * x - 20.0 * x + 32.0 / 3.0) / 6.0 : 0.0;
}
