// GPU route of effects: reads of the buffer at other pixels. On a canvas canvas.glsl has these functions.
// A pass that does not include this file computes each pixel from the same pixel alone, and can run in place
// (gpu_renderer/effects/surface.py).
#ifndef BAKED

// Buffer at a true frame position.
vec4 frame_at(vec2 position) {
    return sample_of(u_source, u_source_region, position);
}

// Buffer at a position of the shader's own space, which can be mirrored.
vec4 buffer_at(vec2 position) {
    return frame_at(mirrored(position));
}

// S(q) of effects.md 3.7: the picture at a point in layer px, transparent outside the layer.
vec4 sampled(vec2 q) {
    return inside(q) ? buffer_at(u_box.xy + q / u_layer_size * u_box.zw) : vec4(0.0);
}

// Straight sRGB-encoded colour at a point in layer px.
vec4 encoded_at(vec2 q) {
    return encoded(sampled(q));
}

// Same at the centre of a layer px, which can differ from the frame's pixel centres.
vec4 encoded_texel(vec2 q) {
    return encoded_at(q);
}
#endif
