// The picture as it is.
#include "chain.glsl"

void main() {
    f_color = here();
}
