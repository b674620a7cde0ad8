"""What an import would make of a project: inputs, layers that cannot be rendered, fonts, features that are not drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.app_state import AppState
from api.templates import service
from api.templates.schemas import TemplateInput, TemplateRequest
from api.uploads import Upload
from farm_core.errors import FarmError, NothingToExpose
from motion import bundle, template
from motion.build import build
from motion.errors import DocumentError
from motion.schema.compositions import CompositionSettings, chosen
from motion.schema.stored import Document
from motion.template import InputField


@dataclass(frozen=True, slots=True)
class Findings:
    """A project before it is stored. With a `fault` it cannot be imported."""

    name: str = ""
    composition: CompositionSettings | None = None
    fields: Sequence[InputField] = ()
    unrenderable: Sequence[tuple[str, str]] = ()
    """Layers and the reasons why they cannot be rendered."""
    not_drawn: Sequence[str] = ()
    warnings: Sequence[str] = ()
    fonts: Sequence[str] = ()
    has_media: bool = True
    fault: str | None = None


def findings(state: AppState, path: Path, name: str = "") -> Findings:
    """Return what an import of the file would store, and what is wrong with it. Reads and builds the document: slow."""
    try:
        document = bundle.read_file(path)
        composition = chosen(document)
        built = build(document)
        unrenderable = template.unrenderable_layers(document, template.discover(document).fields)
    except DocumentError as error:
        return Findings(fault=error.message)
    known: dict[str, Any] = {
        "name": name.strip() or composition.name, "composition": composition, "fonts": _fonts(document),
        "not_drawn": built.warnings, "unrenderable": [(one[0], one[1]) for one in unrenderable],
    }  # fmt: skip
    try:
        draft, warnings = service.draft_of_bundle(state, import_of(path, name))
    except NothingToExpose:
        return Findings(fields=exposed(document), has_media=False, **known)
    except FarmError as error:
        return Findings(fault=error.message if isinstance(error.message, str) else " ".join(error.message), **known)
    return Findings(fields=draft.fields, warnings=warnings, **known)


def import_of(path: Path, name: str) -> Upload:
    """The file as the API's import takes it, with every text as an input."""
    fields = {"includeText": "true"} | ({"name": name.strip()} if name.strip() else {})
    return Upload(path, path.stat().st_size, None, path.name, fields)


def exposed(document: Document) -> Sequence[InputField]:
    """The inputs of a project without media: what its author has exposed, and every text."""
    authored = template.authored_fields(document)
    targets = {field.target for field in authored}
    found = template.discover(document, None, include_text=True).fields
    return [*authored, *(field for field in found if field.target not in targets)]


def publication_of(path: Path, name: str) -> TemplateRequest:
    """The publication of a project without media. Raises DocumentError."""
    document = bundle.read_file(path)
    composition = chosen(document)
    inputs = [
        TemplateInput.model_validate({"id": one.id, "label": one.label, "kind": one.kind, "required": one.required})
        for one in exposed(document)
    ]
    return TemplateRequest.model_validate(
        {
            "name": name.strip() or composition.name, "document": document, "inputs": [one.model_dump(by_alias=True) for one in inputs],
            "width": float(composition.width), "height": float(composition.height), "fps": float(composition.fps),
            "durationSeconds": float(composition.duration_seconds),
        }
    )  # fmt: skip


def _fonts(document: Document) -> list[str]:
    """The font families that texts name."""
    families: set[str] = set()
    for props in _properties(document):
        family = props.get("fontFamily")
        if isinstance(family, str) and family.strip():
            families.add(family.strip())
    return sorted(families)


def _properties(document: Document) -> list[Mapping[str, Any]]:
    scene = document.get("scene")
    nodes = scene.get("nodes") if isinstance(scene, dict) else None
    components = [
        component
        for node in (nodes if isinstance(nodes, list) else [])
        if isinstance(node, dict) and isinstance(held := node.get("components"), list)
        for component in held
    ]
    return [props for one in components if isinstance(one, dict) and isinstance(props := one.get("props"), dict)]
