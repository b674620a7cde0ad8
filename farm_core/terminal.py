"""Print texts of accounts and untrusted files on an operator's terminal."""

from __future__ import annotations

import re
from typing import Final

_COMMANDS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters with which a text could move the terminal's cursor, write to its clipboard, or reverse its lines."""


def harmless(text: str) -> str:
    """Return the text with a mark in place of each control character. Tabs and line ends stay."""
    return _COMMANDS.sub("\N{REPLACEMENT CHARACTER}", text)
