"""Fonts for tests: those fetched by `./farm fonts --base`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.folders import REFERENCE_PACKS, FontFolders
from motion.snapshot import TextSource, TextStyle

FONTS = Path(__file__).resolve().parents[2] / ".fonts"


@cache
def reference_fonts() -> Fonts:
    return Fonts(FontFolders(FONTS, REFERENCE_PACKS).files())


def text(content: str, style: TextStyle | None = None, **fields: object) -> TextSource:
    style = style or TextStyle()
    values: dict[str, object] = {"measured_content": content, "stored_style": style, **fields}
    return TextSource(content=content, style=style, **values)  # type: ignore[arg-type]
