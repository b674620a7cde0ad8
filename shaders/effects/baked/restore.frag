// Copies the canvas unchanged, stored straight or premultiplied as the variant selects (effects.md 4.7).
#include "canvas.glsl"

void main() {
    put_through();
}
