"""Every fault of a render request at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.farm import Farm
from api.renders.schemas import FPS_MAX, PIXELS_MAX, SIDE_MAX, SIDE_MIN, RenderRequest
from farm_core.assets import repository as assets
from farm_core.net.resolver import url_fault
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.template import validate

Faults = list[tuple[str, str]]
_MEDIA_KINDS = ("image", "media")


@dataclass(frozen=True, slots=True)
class Output:
    """The size and rate that a render will have."""

    width: int
    height: int
    fps: float


async def faults_of(
    farm: Farm, account_id: str, origins: frozenset[str], template: Template, wanted: RenderRequest
) -> Faults:
    """What is wrong with the inputs, the output and the callback; nothing means that the render can be made."""
    inputs, callback = await asyncio.gather(
        _input_faults(farm, account_id, origins, template, wanted.inputs), _callback_faults(farm, wanted.callback_url)
    )
    return [*inputs, *output_of(template, wanted.output)[1], *callback]


def output_of(template: Template, wanted: Any) -> tuple[Output, Faults]:
    """The output's size and rate, from the request and the template, and what is wrong with the request's."""
    if wanted is not None and not isinstance(wanted, dict):
        return Output(0, 0, 0), [("output", "must be an object")]
    asked: Mapping[str, Any] = wanted or {}
    faults: Faults = []
    if asked.get("format") not in (None, "mp4"):
        faults.append(("output.format", "must be mp4"))
    width = _integer(asked, "width", template.width, (SIDE_MIN, SIDE_MAX), faults)
    height = _integer(asked, "height", template.height, (SIDE_MIN, SIDE_MAX), faults)
    fps = _integer(asked, "fps", template.fps, (1, FPS_MAX), faults)
    if not faults:
        faults += _size_faults(width, height)
    return Output(round(width), round(height), fps), faults


def _size_faults(width: float, height: float) -> Faults:
    """What is wrong with a size, whether asked for or the template's own."""
    if max(width, height) > SIDE_MAX:
        return [("output", f"would be {width:g} x {height:g}, the template's size; at most {SIDE_MAX} each is allowed")]
    if width * height > PIXELS_MAX:
        return [("output", f"has {width * height:g} pixels; at most 16 megapixels are allowed")]
    return []


def _integer(asked: Mapping[str, Any], name: str, default: float, bounds: tuple[int, int], faults: Faults) -> float:
    value = asked.get(name)
    if value is None:
        return default
    least, most = bounds
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        faults.append((f"output.{name}", f"must be an integer from {least} to {most}"))
        return default
    return float(value)


async def _input_faults(
    farm: Farm, account_id: str, origins: frozenset[str], template: Template, values: Any
) -> Faults:
    if not isinstance(values, dict):
        return [("inputs", "must be an object of input ids and values")]
    fields = fields_of(template)
    urls = {value for field in fields if field.kind in _MEDIA_KINDS and isinstance(value := values.get(field.id), str)}
    reasons = dict(
        zip(urls, await asyncio.gather(*(_media_fault(farm, account_id, origins, url) for url in urls)), strict=True)
    )
    nulls = [(name, "must not be null") for name, value in values.items() if value is None]
    given = {name: value for name, value in values.items() if value is not None}
    found = [(fault.field, fault.message) for fault in validate(fields, given, reasons.get)]
    return found + [one for one in nulls if one[0] not in dict(found)]


async def _media_fault(farm: Farm, account_id: str, origins: frozenset[str], url: str) -> str | None:
    """What is wrong with a picture's or video's address; the account's own uploads are known without asking the network."""
    key = assets.own_key(url, origins)
    if key is None:
        return await url_fault(url, allow_private=farm.settings.automation_allow_private_assets, resolve=farm.resolve)
    async with farm.database.reading() as session:
        owned = await assets.owned(session, account_id, key, farm.clock.now())
    return None if owned else "must be an upload of this account that has not expired"


async def _callback_faults(farm: Farm, url: Any) -> Faults:
    if url is None:
        return []
    fault = await url_fault(url, allow_private=farm.settings.automation_allow_private_callbacks, resolve=farm.resolve)
    return [("callbackUrl", fault)] if fault else []
