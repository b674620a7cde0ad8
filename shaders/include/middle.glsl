// Point about which an effect works, given from the middle of the layer. Include it after effect.glsl, warp.glsl or canvas.glsl.
uniform float u_center_x;
uniform float u_center_y;

vec2 middle() {
    return center() + vec2(u_center_x, u_center_y);
}
