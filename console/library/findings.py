"""Findings of an import: inputs, preview frame, unrenderable layers, fonts, unsupported features."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from api.app_state import AppState
from api.templates.drafts import fields_from
from api.templates.schemas import TemplateInput, TemplateRequest
from api.uploads import Upload
from console.library.examination import examined
from console.pictures import fitting_width, poster_time
from farm_core.errors import FarmError
from farm_core.stills import StillOptions, StillSubject, request_still
from farm_core.templates import manifest
from motion.notices import is_in_bundle, of_line
from motion.template import InputField
from motion.timing import frame_count

PICTURE_WIDTH: Final = 640
WAIT_SECONDS: Final = 8.0
"""Longest wait of a page for a worker. The first frame may need to fetch media."""
_FONT_CODES: Final = ("font_substituted", "glyph_missing")


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about a project before it is stored. A project with a `fault` cannot be imported."""

    name: str = ""
    composition_id: str | None = None
    """Composition of the template. None for the project's active one."""
    composition: str = ""
    compositions: Sequence[tuple[str, str]] = ()
    """Pairs of id and name of the project's compositions, the active one first with an empty id."""
    width: float = 0
    height: float = 0
    fps: float = 0
    duration_seconds: float = 0
    fields: Sequence[InputField] = ()
    unrenderable: Sequence[tuple[str, str]] = ()
    """Pairs of an unrenderable layer and the reason, at most as many as `examination.UNRENDERABLE_MAX`."""
    unrenderable_count: int = 0
    not_drawn: Sequence[str] = ()
    warnings: Sequence[str] = ()
    fonts: Sequence[str] = ()
    font_warnings: Sequence[str] = ()
    """Warnings about missing fonts from the worker that drew the frame."""
    picture: bytes = b""
    """Preview frame as JPEG. Empty if no worker has drawn it."""
    undrawn: str = ""
    """Reason why there is no preview frame."""
    document: bytes = b""
    has_media: bool = True
    fault: str | None = None


def stored(found: Findings, asked: str) -> bytes:
    """Return the findings about the composition `asked` for storage, without the document and the preview frame."""
    values = asdict(replace(found, document=b"", picture=b""))
    return orjson.dumps({"asked": asked, "found": {name: value for name, value in values.items() if value != b""}})


def read(data: bytes, asked: str, name: str) -> Findings | None:
    """Return stored findings with a name, or None if they are about another composition or in the form of another release."""
    kept = orjson.loads(data)
    if kept["asked"] != asked:
        return None
    try:
        found = Findings(**kept["found"] | {"fields": fields_from(kept["found"]["fields"])})
    except (KeyError, TypeError):
        return None
    return replace(found, name=name.strip() or found.composition)


async def findings(state: AppState, account_id: str, path: Path, name: str, composition_id: str | None) -> Findings:
    """Check a composition of the file, or its active one, without drawing it. Return the import's result and problems."""
    with tempfile.NamedTemporaryFile(prefix="farm-import-") as target:
        options = state.settings.automation_allow_private_assets, state.settings.render_audio
        try:
            found = await state.sandbox.call(account_id, examined, str(path), target.name, *options, composition_id)
        except FarmError as error:
            return Findings(fault=error.text)
        document = await asyncio.to_thread(Path(target.name).read_bytes)
    return Findings(
        name=name.strip() or found["composition"], composition_id=found["composition_id"], composition=found["composition"], width=found["width"], height=found["height"], fps=found["fps"],
        duration_seconds=found["duration_seconds"], fields=fields_from(found["fields"]),
        compositions=[(key, title) for key, title in found["compositions"]],
        unrenderable=[(layer, reason) for layer, reason in found["unrenderable"]],
        unrenderable_count=found["unrenderable_count"], not_drawn=found["not_drawn"],
        warnings=found["warnings"], fonts=found["fonts"], document=document, has_media=found["has_media"],
    )  # fmt: skip


async def draw_picture(state: AppState, subject: StillSubject, found: Findings) -> Findings:
    """Draw the frame that the template's poster and playground show. Return the findings with it, or with the reason why there is none."""
    options = StillOptions(
        time=poster_time(found.duration_seconds), width=fitting_width(subject, PICTURE_WIDTH), format="jpeg"
    )
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            still = await request_still(state, subject, options)
    except FarmError as error:
        return replace(found, undrawn=error.text)
    except TimeoutError:
        return replace(found, undrawn=f"No worker has drawn it within {WAIT_SECONDS:g} s.")
    fonts = [line for line in still.warnings if of_line(line).code in _FONT_CODES]
    known = {*fonts, *found.not_drawn, *found.warnings}
    others = [line for line in still.warnings if line not in known and not is_in_bundle(line)]
    return replace(found, picture=still.picture, font_warnings=fonts, not_drawn=[*found.not_drawn, *others])


def subject_of(found: Findings, account_id: str, origin: str, document_key: str) -> StillSubject:
    """Return the still subject for a frame of the project: the document at the key, without inputs."""
    return StillSubject(
        account_id=account_id, origin=origin, document_key=document_key, width=found.width, height=found.height,
        fps=found.fps, frame_count=frame_count(found.duration_seconds, found.fps),
        duration_seconds=found.duration_seconds, composition_id=found.composition_id, template_inputs=manifest.public(found.fields),
        template_targets=manifest.targets(found.fields),
    )  # fmt: skip


def import_of(path: Path, name: str, composition_id: str) -> Upload:
    """Return the import request for a composition of the file, or its active one if the id is empty, with every text."""
    fields = {"includeText": "true", "compId": composition_id} | ({"name": name.strip()} if name.strip() else {})
    return Upload(path, path.stat().st_size, None, path.name, fields)


def publication_of(found: Findings) -> TemplateRequest:
    """Return the template request for a project without media."""
    inputs = [
        TemplateInput.model_validate({"id": one.id, "label": one.label, "kind": one.kind, "required": one.required})
        for one in found.fields
    ]
    wanted: dict[str, Any] = {
        "name": found.name, "document": orjson.loads(found.document), "inputs": [one.model_dump(by_alias=True) for one in inputs],
        "width": found.width, "height": found.height, "fps": found.fps, "durationSeconds": found.duration_seconds,
    }  # fmt: skip
    return TemplateRequest.model_validate(wanted)
