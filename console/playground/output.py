"""Choice of a render's size and format in the playground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.renders.schemas import PIXELS_MAX, SIDE_MAX, SIDE_MIN
from farm_core.formats import DEFAULT, OUTPUT_FORMATS
from farm_core.templates.models import Template

SIZE: Final = "output.size"
FORMAT: Final = "output.format"
_SHARES: Final = (1, 0.75, 0.5, 0.25)
_TRANSPARENT: Final = "+alpha"
_WORDS: Final = {
    "mp4": "MP4", "mp4-h265": "MP4, smaller (H.265)", "mp4-av1": "MP4, smallest (AV1)", "webm": "WebM",
    "mov": "MOV for editing (ProRes)", "gif": "GIF", "webp": "Animated WebP", "png-sequence": "PNG pictures (zip)",
    "jpg-sequence": "JPEG pictures (zip)",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of the size list and the format list, as pairs of value and label, and the chosen values."""

    sizes: Sequence[tuple[str, str]]
    formats: Sequence[tuple[str, str]]
    size: str
    format: str


def choices_of(template: Template, accepted: Sequence[str], form: Mapping[str, Any]) -> Choices:
    """Return the size and format choices of the template on a farm that accepts these formats."""
    sizes, formats = _sizes(template), _formats(accepted)
    return Choices(sizes, formats, _among(sizes, form.get(SIZE)), _among(formats, form.get(FORMAT)))


def output_of(choices: Choices) -> dict[str, Any] | None:
    """Return the request's `output` field for the choice, or None for the template's size as MP4."""
    output: dict[str, Any] = {}
    if choices.sizes and choices.size != choices.sizes[0][0]:
        width, height = choices.size.split("x")
        output |= {"width": int(width), "height": int(height)}
    name, _, alpha = choices.format.partition("+")
    if choices.formats and name != choices.formats[0][0]:
        output["format"] = name
    return output | ({"transparent": True} if alpha else {}) or None


def size_of(choices: Choices, template: Template) -> tuple[float, float]:
    """Return the width and height of the render's video, px."""
    output = output_of(choices) or {}
    return output.get("width", template.width), output.get("height", template.height)


def chosen(width: int, height: int, file_format: str, *, transparent: bool) -> dict[str, str]:
    """Return the form values of a render's output."""
    return {SIZE: f"{width}x{height}", FORMAT: file_format + (_TRANSPARENT if transparent else "")}


def _sizes(template: Template) -> list[tuple[str, str]]:
    """Return the template's size and smaller allowed sizes, without duplicates."""
    found: dict[str, str] = {}
    for share in _SHARES:
        width, height = round(template.width * share), round(template.height * share)
        if share == 1 or _fits(width, height):
            found.setdefault(f"{width}x{height}", f"{width}×{height}" + ("" if share == 1 else f" ({share:.0%})"))
    return list(found.items())


def _fits(width: int, height: int) -> bool:
    return min(width, height) >= SIDE_MIN and max(width, height) <= SIDE_MAX and width * height <= PIXELS_MAX


def _formats(accepted: Sequence[str]) -> list[tuple[str, str]]:
    default_first = sorted(accepted, key=lambda name: name != DEFAULT)
    found = []
    for name in default_first:
        found.append((name, _WORDS.get(name, name)))
        if OUTPUT_FORMATS[name].has_alpha:
            found.append((name + _TRANSPARENT, f"{_WORDS.get(name, name)}, transparent"))
    return found


def _among(options: Sequence[tuple[str, str]], given: Any) -> str:
    """Return the given value if it is an option, otherwise the first option."""
    return given if any(value == given for value, _ in options) else options[0][0]
