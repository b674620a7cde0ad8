"""1.1.0 to 1.2.0: a matte named by one word becomes a mode and an inversion."""

from __future__ import annotations

from motion.migrations.components import nodes_with_fx
from motion.stored import Document, JsonValue, Record, records, scene_nodes, text

WORDS = {"alpha": ("alpha", False), "alpha-inv": ("alpha", True), "luma": ("luma", False), "luma-inv": ("luma", True)}


def structured_mattes(document: Document) -> None:
    """Replace matte words by `{mode, inverted, sourceId?}` and drop values that are not mattes."""
    for _, fx in nodes_with_fx(document):
        if fx.get("matte") is None:
            continue
        matte = structured(fx["matte"])
        if matte is None:
            del fx["matte"]
        else:
            fx["matte"] = matte


def structured(stored: JsonValue) -> Record | None:
    """Return a matte of any version in the current form, None for no matte."""
    if isinstance(stored, str):
        return _of_word(stored)
    if not isinstance(stored, dict):
        return None
    mode = text(stored, "mode")
    if mode in {"alpha", "luma"} and "inverted" in stored:
        matte: Record | None = {"mode": mode, "inverted": stored["inverted"] is True}
    else:
        matte = _of_word(mode)
    if matte is not None and "sourceId" in stored:
        matte["sourceId"] = stored["sourceId"]
    return matte


def _of_word(word: str) -> Record | None:
    if word not in WORDS:
        return None
    mode, inverted = WORDS[word]
    return {"mode": mode, "inverted": inverted}


def linked_string_mattes(document: Document) -> None:
    """A matte that is still a word after migration takes the record before its own as its source (document.md 3)."""
    previous: JsonValue = None
    for node in scene_nodes(document):
        for component in records(node, "components"):
            fx = component.get("props")
            if component.get("type") == "fx" and isinstance(fx, dict) and isinstance(fx.get("matte"), str):
                _link(fx, previous)
        previous = node.get("id")


def _link(fx: Record, source_id: JsonValue) -> None:
    matte = _of_word(text(fx, "matte"))
    if matte is None:
        del fx["matte"]
    else:
        fx["matte"] = {**matte, "sourceId": source_id}
