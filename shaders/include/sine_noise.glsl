// Value noise over lattices of HS, a hash in doubles that effects/noise.py writes to u_lattice (effects.md 6).

uniform sampler2D u_lattice;
uniform int u_lattice_starts[8];
uniform int u_lattice_columns[8];
uniform float u_lattice_frequencies[8];

float lattice_value(int octave, ivec2 at) {
    int index = u_lattice_starts[octave] + at.y * u_lattice_columns[octave] + at.x;
    return texelFetch(u_lattice, ivec2(index % 2048, index / 2048), 0).r;
}

float sine_noise(int octave, ivec2 pixel_index) {
    vec2 p = vec2(pixel_index) * u_lattice_frequencies[octave], t = fract(p);
    t = t * t * (3.0 - 2.0 * t);
    ivec2 c = u_lattice_frequencies[octave] <= 2.0 ? ivec2(floor(p)) : 2 * pixel_index;
    return mix(
        mix(lattice_value(octave, c), lattice_value(octave, c + ivec2(1, 0)), t.x),
        mix(lattice_value(octave, c + ivec2(0, 1)), lattice_value(octave, c + ivec2(1, 1)), t.x), t.y);
}
