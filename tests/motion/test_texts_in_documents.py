"""Texts in whole documents (text.md)."""

from __future__ import annotations

from motion.snapshot import TextRun, TextSource
from tests.motion.documents import Json, document, node
from tests.motion.frames import source


def text(content: str, **stored: object) -> Json:
    return document(node("t", "text", text={"content": content, **stored}))


def test_runs_end_with_the_stored_text() -> None:
    runs = [{"start": 0, "end": 5, "style": {"fill": "#ff0000"}}, {"start": 6, "end": 11, "style": {"fill": "#00ff00"}}]
    assert source(text("Hi", __runs=runs), "t", TextSource).runs == (TextRun(0, 2, fill="#ff0000"),)
    assert source(text("Hi", __runs=runs[1:]), "t", TextSource).runs == ()
