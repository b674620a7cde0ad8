"""Named settings of `./farm render`, as the editor's render queue has them (format/audio.md 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, cast

from gpu_renderer.encode.formats import Quality
from motion.schema.stored import Document, record

DRAFT_BLUR_SAMPLES: Final = 4


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of a preset. None leaves the choice to the other options, the document or the output's file ending."""

    help: str
    quality: Quality = "high"
    scale: float = 1.0
    fps_max: float | None = None
    format: str | None = None
    is_transparent: bool = False
    is_draft: bool = False


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "high": Preset("full size, the best quality (the default)"),
        "medium": Preset("full size, smaller files", quality="medium"),
        "draft": Preset("half size, fewer samples of motion blur, small files", "draft", 0.5, is_draft=True),
        "gif": Preset("a GIF of half size at 15 frames per second at most", scale=0.5, fps_max=15.0, format="gif"),
        "webm-alpha": Preset("WebM (VP9) without the background", format="webm", is_transparent=True),
        "prores-alpha": Preset("MOV (ProRes 4444) without the background", format="mov", is_transparent=True),
        "png-alpha": Preset("a sequence of PNGs without the background", format="png-sequence", is_transparent=True),
    }
)


def scaled(side: float, scale: float) -> int:
    """A side of the output in pixels: even, at least 2; at full scale the composition's own, rounded."""
    return round(side) if scale == 1.0 else max(2, 2 * round(side * scale / 2))


def drafted(document: Document) -> Document:
    """Return the document with at most DRAFT_BLUR_SAMPLES samples of motion blur per frame."""
    blur = record(document, "motionBlur")
    fewer = {"samples": DRAFT_BLUR_SAMPLES, "adaptiveSampleLimit": DRAFT_BLUR_SAMPLES}
    return cast(Document, {**document, "motionBlur": {**blur, **fewer}})


def drafting(preset: Preset) -> Preset:
    """Return the preset at draft quality and, unless it is smaller already, half size."""
    return replace(preset, quality="draft", scale=min(preset.scale, 0.5), is_draft=True)
