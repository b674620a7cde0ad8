"""Effects and layer styles: the registry of all 174 ids, the colour stage, the GPU route and the raster route.

What a compositor calls, in the order of one layer (format/effects.md 3.2 and 4):

* `color_stage(layer.effects)`: matrix and table effects, for the shader that draws an unbaked layer's content.
* `needs_baking(layer)`, `baking(...)`, `bake(...)`: the raster route, before the transform.
* `spread_px(...)`, `chain(...)` or `lit_chain(...)`: the passes over the layer's buffer, after the transform.
"""

from gpu_renderer.effects import (
    baked,
    blur,
    channel,
    color,
    distort,
    generate,
    light,
    matrix,
    shadow,
    solid,
    stylise,
    table,
    time,
)
from gpu_renderer.effects.baked.bake import Baked, Baking, bake, baking, container_padding_px, keeps_color, needs_baking
from gpu_renderer.effects.chain import (
    buffer_chain,
    chain,
    has_chain,
    is_movable_glow,
    is_pointwise_stack,
    is_resampled,
    moves_within_box,
    retouch,
    shadow_offsets,
    spread_px,
)
from gpu_renderer.effects.layer_buffer import GlowBuffer, LayerBuffer, flattened, only_glow
from gpu_renderer.effects.registry import Effect, Route, Tier, every_effect, find, unknown
from gpu_renderer.effects.scene import Box, EffectScene
from gpu_renderer.effects.stage import ColorStage, color_stage
from gpu_renderer.effects.values import EffectValues, resolve

__all__ = [
    "Baked",
    "Baking",
    "Box",
    "ColorStage",
    "Effect",
    "EffectScene",
    "EffectValues",
    "GlowBuffer",
    "LayerBuffer",
    "Route",
    "Tier",
    "bake",
    "baked",
    "baking",
    "blur",
    "buffer_chain",
    "chain",
    "channel",
    "color",
    "color_stage",
    "container_padding_px",
    "distort",
    "every_effect",
    "find",
    "flattened",
    "generate",
    "has_chain",
    "is_movable_glow",
    "is_pointwise_stack",
    "is_resampled",
    "keeps_color",
    "light",
    "matrix",
    "moves_within_box",
    "needs_baking",
    "only_glow",
    "resolve",
    "retouch",
    "shadow",
    "shadow_offsets",
    "solid",
    "spread_px",
    "stylise",
    "table",
    "time",
    "unknown",
]  # fmt: skip
