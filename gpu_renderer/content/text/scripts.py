"""Scripts of characters, and which of the common ones the installed fonts cannot write."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from fontTools import unicodedata as scripts

from gpu_renderer.content.text.folders import FontFile

SAMPLES: Final = {
    "Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hebrew": "ש", "Devanagari": "क", "Bengali": "ক",
    "Tamil": "த", "Telugu": "త", "Thai": "ก", "Georgian": "ა", "Armenian": "Ա", "Ethiopic": "አ", "Khmer": "ក",
    "Chinese": "漢", "Japanese": "あ", "Korean": "한", "emoji": "😀",
}  # fmt: skip
"""A character of each script that people write most."""

_HELP: Final = "run ./farm fonts, or put a font that has it into a folder of FONT_FOLDERS"
_NAMES: Final = {
    "Han": "Chinese",
    "Hiragana": "Japanese",
    "Katakana": "Japanese",
    "Hangul": "Korean",
    "Common": "symbols",
}


def script_of(code_point: int) -> str:
    """Return the English name of a character's script, as readers know it."""
    name = str(scripts.script_name(scripts.script(chr(code_point)), default="unknown")).replace("_", " ")
    return _NAMES.get(name, name)


def is_visible(code_point: int) -> bool:
    """False for spaces, controls and marks that are not drawn by themselves."""
    return unicodedata.category(chr(code_point))[0] not in "ZC"


def missing_line(script: str, example: str) -> str:
    """Return the message about a script without a font."""
    return f"No installed font has {script} characters such as {example!r}; boxes are drawn for them: {_HELP}."


def without_font(files: Iterable[FontFile]) -> list[str]:
    """Names of the common scripts that no font file has."""
    held = list(files)
    return [name for name, sample in SAMPLES.items() if not any(file.covers(ord(sample)) for file in held)]
