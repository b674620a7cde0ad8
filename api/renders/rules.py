"""Every fault of a render request at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from api.renders.schemas import FPS_MAX, METADATA_BYTES_MAX, PIXELS_MAX, SIDE_MAX, SIDE_MIN, RenderRequest
from api.shapes import Asked, unknown_field
from farm_core.assets import repository as assets
from farm_core.jobs import formats
from farm_core.net.resolver import Resolver, url_fault
from farm_core.storage.links import PATH_PREFIX, Links
from farm_core.strict_json import character_fault
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.template import InputField, validate

Faults = list[tuple[str, str]]
_MEDIA_KINDS = ("image", "media")


_BOUNDS: Final = {"width": (SIDE_MIN, SIDE_MAX), "height": (SIDE_MIN, SIDE_MAX), "fps": (1, FPS_MAX)}
_OUTPUT: Final = ("format", "transparent", *_BOUNDS)


@dataclass(frozen=True, slots=True)
class Output:
    """Size, rate and format of a render."""

    width: int
    height: int
    fps: float
    format: str = "mp4"
    transparent: bool = False


LOOKUPS_AT_ONCE: Final = 32
_NO_OUTPUT: Final = Output(0, 0, 0)


Uploads = Mapping[str, str | None]
"""Paths of the account's uploads by the values that are addresses of the farm's own files, None for other files."""


async def uploads_of(
    session: AsyncSession, account_id: str, origins: frozenset[str], links: Links, now: datetime, inputs: Any
) -> Uploads:
    """Return the account's uploads among the values."""
    values = inputs.values() if isinstance(inputs, dict) else ()
    keys = {url: key for url in values if isinstance(url, str) and (key := assets.own_key(url, origins, links))}
    owned_keys = await assets.owned_keys(session, account_id, keys.values(), now) if keys else set()
    return {url: PATH_PREFIX + key if key in owned_keys else None for url, key in keys.items()}


def resolved(template: Template, inputs: Mapping[str, Any], uploads: Uploads) -> dict[str, Any]:
    """Replace addresses of the account's uploads by their paths, so that they are read from storage."""
    media = {field.id for field in fields_of(template) if field.kind in _MEDIA_KINDS}
    return {name: (uploads.get(value) or value) if name in media else value for name, value in inputs.items()}


async def faults_of(
    state: AppState, template: Template | None, wanted: RenderRequest, uploads: Uploads, account_id: str = ""
) -> Faults:
    """Return the faults of the request. Without a template only those that can be known, for the account `account_id`."""
    inputs, callback = await asyncio.gather(
        input_faults(state, template, wanted.inputs, uploads),
        callback_faults(state, wanted.callback_url, template.account_id if template else account_id),
    )
    named = [] if isinstance(wanted.template_id, str) else [("templateId", "is required, as a string")]
    return [
        *named,
        *inputs,
        *output_of(template, wanted.output, state.settings.accepted_formats)[1],
        *callback,
        *_own_faults(wanted),
    ]


def _own_faults(wanted: RenderRequest) -> Faults:
    """Faults of the caller's metadata, and fields that a render does not have."""
    return [*metadata_faults(wanted.metadata), *unknown_fields(wanted)]


def unknown_fields(wanted: Asked) -> Faults:
    """Return the faults of the fields that the schema of a request does not have."""
    known = [field.alias or name for name, field in type(wanted).model_fields.items()]
    return [(name, unknown_field(name, known)) for name in wanted.model_extra or ()]


def metadata_faults(value: Any, where: str = "metadata") -> Faults:
    """Return the faults of an object that a caller attaches to a job."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return [(where, "must be an object")]
    size = len(orjson.dumps(value))
    return (
        [] if size <= METADATA_BYTES_MAX else [(where, f"has {size} bytes; at most {METADATA_BYTES_MAX} are allowed")]
    )


def output_of(
    template: Template | None, wanted: Any, accepted: Sequence[str] = (formats.DEFAULT,)
) -> tuple[Output, Faults]:
    """Return the output's size, rate and format from request and template, with their faults.

    `accepted`: the formats that the operator allows.
    """
    if wanted is not None and not isinstance(wanted, dict):
        return _NO_OUTPUT, [("output", "must be an object")]
    asked: Mapping[str, Any] = wanted or {}
    name, transparent, faults = _format_of(asked, accepted)
    faults += [(f"output.{name}", unknown_field(name, _OUTPUT)) for name in asked if name not in _OUTPUT]
    faults += [fault for name in _BOUNDS if (fault := _integer_fault(name, asked.get(name)))]
    if faults or template is None:
        return _NO_OUTPUT, faults
    width, height, fps = (asked.get(name) or getattr(template, name) for name in _BOUNDS)
    output = Output(round(width), round(height), float(fps), name, transparent)
    return output, [*_limit_faults(output), *_format_faults(output)]


def _format_of(asked: Mapping[str, Any], accepted: Sequence[str]) -> tuple[str, bool, Faults]:
    """Return the format, its transparency, and their faults. With MP4 alone `transparent` is an unknown field."""
    default = formats.DEFAULT if formats.DEFAULT in accepted else accepted[0]
    name, transparent = asked.get("format"), asked.get("transparent")
    faults: Faults = []
    if name is not None and name not in accepted:
        faults.append(("output.format", f"must be {' or '.join(accepted)}"))
    if len(accepted) == 1 and default == formats.DEFAULT:
        return default, False, faults
    if not isinstance(transparent, bool | None):
        faults.append(("output.transparent", "must be true or false"))
    chosen = name if isinstance(name, str) and name in accepted else default
    if transparent is True and not formats.OUTPUT_FORMATS[chosen].has_alpha:
        faults.append(("output.transparent", f"is not possible in {chosen}, which has no transparency"))
    return chosen, transparent is True, faults


def _format_faults(output: Output) -> Faults:
    limit = formats.OUTPUT_FORMATS[output.format].fps_max
    if limit is None or output.fps <= limit:
        return []
    return [("output.fps", f"is {output.fps:g}; a {output.format} has at most {limit:g} frames per second")]


def _integer_fault(name: str, value: Any) -> tuple[str, str] | None:
    least, most = _BOUNDS[name]
    if value is None or (type(value) is int and least <= value <= most):
        return None
    return f"output.{name}", f"must be an integer from {least} to {most}"


def _limit_faults(output: Output) -> Faults:
    """Return the faults that even the template's own output must not have. Only its rate can have a fraction."""
    faults = [
        (f"output.{name}", f"is {value:g}, the template's own; give one from {least} to {most}")
        for name, (least, most) in _BOUNDS.items() if not least <= (value := getattr(output, name)) <= most
    ]  # fmt: skip
    pixels = output.width * output.height
    if not faults and pixels > PIXELS_MAX:
        return [("output", f"has {pixels} pixels; at most 16 megapixels are allowed")]
    return faults


async def input_faults(state: AppState, template: Template | None, values: Any, uploads: Uploads) -> Faults:
    """Return the faults of the values of a template's inputs."""
    return (await inputs_faults(state, template, [values], uploads))[0]


async def inputs_faults(
    state: AppState, template: Template | None, rows: Sequence[Any], uploads: Uploads
) -> list[Faults]:
    """Return the faults of several sets of values. A shared address is checked once."""
    fields = [] if template is None else fields_of(template)
    media = [field.id for field in fields if field.kind in _MEDIA_KINDS]
    objects = [values for values in rows if isinstance(values, dict)]
    urls = {value for values in objects for name in media if isinstance(value := values.get(name), str)}
    gate = asyncio.Semaphore(LOOKUPS_AT_ONCE)
    resolve = state.lookups.of(template.account_id if template else "")

    async def reason(url: str) -> tuple[str, str | None]:
        async with gate:
            return url, await _media_fault(state, url, uploads, resolve)

    reasons = dict(await asyncio.gather(*map(reason, urls)))
    return [_value_faults(fields if template else None, values, reasons) for values in rows]


def _value_faults(fields: Sequence[InputField] | None, values: Any, reasons: Mapping[str, str | None]) -> Faults:
    if not isinstance(values, dict):
        return [("inputs", "must be an object of input ids and values")]
    unfit = [(name, fault) for name, value in values.items() if (fault := _unfit(value))]
    if fields is None:
        return [one for one in unfit if values[one[0]] is not None]
    given = {name: value for name, value in values.items() if value is not None}
    found = [(fault.field, fault.message) for fault in validate(fields, given, reasons.get)]
    named = {field for field, _ in found}
    return found + [one for one in unfit if one[0] not in named]


def _unfit(value: Any) -> str | None:
    """Return why no input takes the value: it is null or a text that cannot be stored. None if one can."""
    if value is None:
        return "must not be null"
    return character_fault(value) if isinstance(value, str) else None


async def _media_fault(state: AppState, url: str, uploads: Uploads, resolve: Resolver) -> str | None:
    """Return the fault of the address of a picture or video. The account's own uploads need no network."""
    if url in uploads:
        return None if uploads[url] else "must be an upload of this account that has not expired"
    allowed = state.settings.automation_allow_private_assets
    return await url_fault(url, allow_private=allowed, resolve=resolve, setting="AUTOMATION_ALLOW_PRIVATE_ASSETS")


async def callback_faults(state: AppState, url: Any, account_id: str) -> Faults:
    """Return the faults of a webhook's address."""
    if url is None:
        return []
    allowed = state.settings.automation_allow_private_callbacks
    setting, resolve = "AUTOMATION_ALLOW_PRIVATE_CALLBACKS", state.lookups.of(account_id)
    fault = await url_fault(url, allow_private=allowed, resolve=resolve, setting=setting)
    return [("callbackUrl", fault)] if fault else []
