// Bilinear filtering in float. Software rasterisers filter 8-bit textures in 8 bits, which colour tables make visible.

vec4 between_texels(sampler2D image, vec2 uv) {
    ivec2 last = textureSize(image, 0) - 1;
    vec2 at = uv * vec2(last + 1) - 0.5, corner = floor(at), part = at - corner;
    ivec2 low = clamp(ivec2(corner), ivec2(0), last), high = clamp(ivec2(corner) + 1, ivec2(0), last);
    vec4 top = mix(texelFetch(image, low, 0), texelFetch(image, ivec2(high.x, low.y), 0), part.x);
    vec4 bottom = mix(texelFetch(image, ivec2(low.x, high.y), 0), texelFetch(image, high, 0), part.x);
    return mix(top, bottom, part.y);
}
