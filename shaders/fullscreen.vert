// Covers parts of a target, one instance each, as strips of two triangles, or the whole target with one larger
// triangle.

in vec4 i_part;  // left, top, right, bottom as shares of the target's size

void main() {
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? i_part.x : i_part.z, gl_VertexID < 2 ? i_part.y : i_part.w);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
