// A picture over another region, transparent outside the picture. in and out: any space.
#include "frame.glsl"

uniform sampler2D u_source;
uniform vec4 u_source_region;
out vec4 f_color;

void main() {
    ivec2 p = ivec2(floor(v_frame - u_source_region.xy));
    bool holds = all(greaterThanEqual(p, ivec2(0))) && all(lessThan(p, ivec2(u_source_region.zw)));
    f_color = holds ? texelFetch(u_source, p, 0) : vec4(0.0);
}
