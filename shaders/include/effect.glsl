// An effect that has both forms: with BAKED it runs on a layer's canvas, else on its buffer in screen space.
// Both sides answer to place, extent, center, inside, here, encoded_here, put, put_encoded, put_color, put_through and put_erased, and
// with around.glsl to sampled, encoded_at and encoded_texel, which read other pixels.
// What both include comes first: an include is expanded once, wherever it stands.
#include "frame.glsl"
#include "color.glsl"
#include "formulas.glsl"
#ifdef BAKED
#include "canvas.glsl"
#else
#include "chain.glsl"
#endif
