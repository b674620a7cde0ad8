// An effect that has both forms: with BAKED it runs on a layer's canvas, otherwise on its buffer in screen space.
// Both sides define place, extent, center, inside, here, encoded_here, put, put_encoded, put_color, put_through and
// put_erased, and with around.glsl also sampled, encoded_at and encoded_texel, which read other pixels.
// Files that both sides include come first, because an include is expanded once, at its first position.
#include "frame.glsl"
#include "color.glsl"
#include "formulas.glsl"
#ifdef BAKED
#include "canvas.glsl"
#else
#include "chain.glsl"
#endif
