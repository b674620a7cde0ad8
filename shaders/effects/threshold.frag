// Black or white by brightness (effects.md 8.5).
#include "recolor.glsl"

uniform float u_level;

vec3 changed(vec3 c) {
    return vec3(luma601(c) >= u_level / 255.0 ? 1.0 : 0.0);
}
