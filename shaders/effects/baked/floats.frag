// The canvas as premultiplied floats, for marks that are mixed over it. What is read is stored straight or premultiplied.
#include "canvas.glsl"

void main() {
    vec4 c = here();
    f_color = vec4(c.rgb * c.a, c.a);
}
