// The canvas as it is, straight or premultiplied as the variant asks (effects.md 4.7).
#include "canvas.glsl"

void main() {
    put_through();
}
