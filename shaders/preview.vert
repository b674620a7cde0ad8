// The whole window as a strip of two triangles.
// out: v_at, the position in the picture, 0..1 (y down).
out vec2 v_at;

void main() {
    v_at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(v_at.x * 2.0 - 1.0, 1.0 - v_at.y * 2.0, 0.0, 1.0);
}
