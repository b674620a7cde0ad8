"""Effects and layer styles: the registry of every effect, the colour stage, the GPU route and the raster route.

A compositor calls these functions for one layer, in this order (effects.md 3.2 and 4):

* `color_stage(layer.effects)`: matrix and table effects, for the shader that draws an unbaked layer's content.
* `needs_baking(layer)`, `baking(...)`, `bake(...)`: the raster route, before the transform.
* `EffectStack.of(layer)`, then `chain(...)` or `buffer_chain(...)`: the passes over the layer's buffer, after the transform.

This package imports the effect modules, so that their code is registered before the catalogue is read.
"""

from gpu_renderer.effects import blur, drawn, grading, light, lookup, noise, particles, stylise, tones, warp, windows
from gpu_renderer.effects.bake import bake
from gpu_renderer.effects.chain import buffer_chain, chain, chain_in_place, pointwise_passes
from gpu_renderer.effects.layer_buffer import GlowBuffer, LayerBuffer, flattened, only_glow
from gpu_renderer.effects.passes import PointwisePass
from gpu_renderer.effects.raster_route import (
    DEFOCUS_ID,
    Baking,
    baking,
    container_padding_px,
    keeps_color,
    needs_baking,
)
from gpu_renderer.effects.registry import Effect, every_effect, find, known
from gpu_renderer.effects.scene import Box, EffectScene
from gpu_renderer.effects.stack import EffectStack, pass_routes
from gpu_renderer.effects.stage import ColorStage, color_stage
from gpu_renderer.effects.values import EffectValues, Route, resolve

__all__ = [
    "DEFOCUS_ID", "Baking", "Box", "ColorStage", "Effect", "EffectScene", "EffectStack", "EffectValues", "GlowBuffer", "LayerBuffer",
    "PointwisePass", "Route", "bake", "baking", "blur", "buffer_chain", "chain", "chain_in_place", "color_stage",
    "container_padding_px", "drawn", "every_effect", "find", "flattened", "grading", "keeps_color", "known", "light", "lookup",
    "needs_baking", "noise", "only_glow", "particles", "pass_routes", "pointwise_passes", "resolve",
    "stylise", "tones", "warp", "windows",
]  # fmt: skip
