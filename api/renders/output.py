"""Output of a render: size, rate and format, from the request and the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.app_state import AppState
from api.renders.schemas import FPS_MAX, PIXELS_MAX, SIDE_MAX, SIDE_MIN
from api.shapes import Faults, as_integer, field_hints, unknown_field
from farm_core import formats
from farm_core.templates.models import Template

_BOUNDS: Final = {"width": (SIDE_MIN, SIDE_MAX), "height": (SIDE_MIN, SIDE_MAX), "fps": (1, FPS_MAX)}
_FIELDS: Final = ("format", "transparent", *_BOUNDS)


@dataclass(frozen=True, slots=True)
class Output:
    """Size in pixels, frames per second and format of a render."""

    width: int
    height: int
    fps: float
    format: str = "mp4"
    transparent: bool = False


_NO_OUTPUT: Final = Output(0, 0, 0)
_ALLOW_FORMATS: Final = ". Whoever runs the farm can allow other formats with OUTPUT_FORMATS."


def output_of(state: AppState, template: Template | None, wanted: Any) -> tuple[Output, Faults]:
    """Return the output from request and template, and its faults. With faults, or without a template, it has no size.

    `wanted` is the field `output` as it was sent. Missing members come from the template.
    """
    if wanted is not None and not isinstance(wanted, dict):
        return _NO_OUTPUT, [("output", "must be an object")]
    fields: Mapping[str, Any] = wanted or {}
    file_format, transparent, faults = _format_of(fields, state.settings.accepted_formats)
    hints = field_hints(_FIELDS)
    faults += [(f"output.{name}", unknown_field(name, hints)) for name in fields if name not in _FIELDS]
    faults += [fault for name in _BOUNDS if (fault := _integer_fault(name, fields.get(name)))]
    if faults or template is None:
        return _NO_OUTPUT, faults
    width, height, fps = (fields.get(name) or getattr(template, name) for name in _BOUNDS)
    output = Output(round(width), round(height), float(fps), file_format, transparent)
    return output, [*_limit_faults(output), *_rate_faults(output)]


def _format_of(fields: Mapping[str, Any], accepted: Sequence[str]) -> tuple[str, bool, Faults]:
    """Return the format, its transparency, and their faults. With MP4 alone `transparent` is an unknown field."""
    default = formats.DEFAULT if formats.DEFAULT in accepted else accepted[0]
    name, transparent = fields.get("format"), fields.get("transparent")
    faults: Faults = []
    if name is not None and name not in accepted:
        known = isinstance(name, str) and name in formats.OUTPUT_FORMATS
        faults.append(("output.format", f"must be {' or '.join(accepted)}{_ALLOW_FORMATS if known else ''}"))
    if len(accepted) == 1 and default == formats.DEFAULT:
        return default, False, faults
    if not isinstance(transparent, bool | None):
        faults.append(("output.transparent", "must be true or false"))
    chosen = name if isinstance(name, str) and name in accepted else default
    if transparent is True and not formats.OUTPUT_FORMATS[chosen].has_alpha:
        faults.append(("output.transparent", f"is not possible in {chosen}, which has no transparency"))
    return chosen, transparent is True, faults


def _integer_fault(name: str, value: Any) -> tuple[str, str] | None:
    least, most = _BOUNDS[name]
    number = as_integer(value)
    if number is None or (type(number) is int and least <= number <= most):
        return None
    return f"output.{name}", f"must be an integer from {least} to {most}"


def _limit_faults(output: Output) -> Faults:
    """Return the faults that also apply to the template's own output. Only its rate can have a fraction."""
    faults = [
        (f"output.{name}", f"is {value:g}, the template's own; give one from {least} to {most}")
        for name, (least, most) in _BOUNDS.items() if not least <= (value := getattr(output, name)) <= most
    ]  # fmt: skip
    pixels = output.width * output.height
    if not faults and pixels > PIXELS_MAX:
        return [("output", f"has {pixels} pixels; at most 16 megapixels are allowed")]
    return faults


def _rate_faults(output: Output) -> Faults:
    limit = formats.OUTPUT_FORMATS[output.format].fps_max
    if limit is None or output.fps <= limit:
        return []
    return [("output.fps", f"is {output.fps:g}; a {output.format} has at most {limit:g} frames per second")]
