// A finished frame in the preview window.
// in: u_picture, display-encoded, opaque. out: the same.
uniform sampler2D u_picture;
in vec2 v_at;
out vec4 o_color;

void main() {
    o_color = texture(u_picture, v_at);
}
