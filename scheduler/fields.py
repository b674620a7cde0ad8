"""A stored template's inputs as the document's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from motion.template import InputField, Target


def input_fields(inputs: Sequence[Mapping[str, Any]], targets: Mapping[str, Any]) -> list[InputField]:
    """The public manifest joined with the write targets that are kept beside it."""
    return [
        InputField(
            id=stored["id"],
            label=stored["label"],
            kind=stored["kind"],
            required=bool(stored.get("required", stored["kind"] in ("image", "media"))),
            default=stored.get("default"),
            target=_target(targets[stored["id"]]),
        )
        for stored in inputs
        if stored["id"] in targets
    ]


def _target(stored: Mapping[str, Any]) -> Target:
    return Target(stored["node_id"], stored["component_type"], stored["property"])
