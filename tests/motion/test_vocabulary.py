"""Reading a document reports unknown effects and blend modes, before a frame is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import document, node
from tests.motion.frames import built

SPARKLE: dict[str, Any] = {"id": "s", "type": "acme.sparkle"}
MEDIAN: dict[str, Any] = {"id": "m", "type": "median"}
UNKNOWN = "The effect 'acme.sparkle' is unknown and not drawn."


@pytest.mark.parametrize(
    ("fx", "expected"),
    [
        ({"effects": [SPARKLE, MEDIAN, {**SPARKLE, "id": "t"}]}, (UNKNOWN,)),
        ({"effects": [{**SPARKLE, "enabled": False}]}, ()),
        ({"effects": [SPARKLE], "fxEnabled": False}, ()),
        ({"effects": [MEDIAN]}, ()),
        ({"effects": [MEDIAN], "isAdjustment": True}, ("The effect 'median' has no effect on an adjustment layer.",)),
        ({"blendMode": "glisten"}, ("The blend mode 'glisten' is unknown; normal stands in for it.",)),
        ({"blendMode": "glisten", "isAdjustment": True}, ()),
        ({"blendMode": "add"}, ()),
    ],
)
def test_a_document_names_what_is_not_drawn_as_it_says(fx: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert built(document(node("a", fx=fx))).warnings == expected


@pytest.mark.parametrize("kind", ["null", "camera", "group"])
def test_layers_that_nothing_is_composited_of_are_not_named(kind: str) -> None:
    assert built(document(node("a", kind, fx={"effects": [SPARKLE], "blendMode": "glisten"}))).warnings == ()


def test_a_group_that_is_composited_as_one_is_named() -> None:
    group = node("g", "group", children=["a"], fx={"precomp": True, "effects": [SPARKLE]})
    assert built(document(group, node("a", parent="g"))).warnings == (UNKNOWN,)


def test_effects_are_named_on_layers_that_do_not_have_them() -> None:
    glow = {"innerGlow": {"enabled": True, "size": 4}}
    group = node(
        "g",
        "group",
        children=["a"],
        fx={"precomp": True, "effects": [MEDIAN, {"id": "b", "type": "blur"}], "layerStyles": glow},
    )
    particles = node("p", "particle", fx={"effects": [{"id": "b", "type": "blur"}]})
    found = built(document(group, node("a", parent="g"), particles)).warnings
    assert found == (
        "The effect 'median' has no effect on a group or a placed composition.",
        "The layer style 'innerGlow' has no effect on a group or a placed composition.",
        "The effect 'blur' has no effect on a particle layer.",
    )
