"""Types of command line arguments, for `add_argument(type=...)`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

_DURATION: Final = re.compile(r"(\d+)([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` to `most`."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(word: str) -> int:
        try:
            number = int(word)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{word!r} is not a whole number {bounds}")
        return number

    return read


def folder(word: str) -> Path:
    """Parse a folder. Refuse an empty value, such as that of an unset variable."""
    if not word.strip():
        raise argparse.ArgumentTypeError("the folder's name is empty")
    return Path(word)


def duration(word: str) -> timedelta:
    """Parse a duration such as `90s`, `15m`, `2h` or `3d`."""
    found = _DURATION.fullmatch(word)
    if found is None:
        raise argparse.ArgumentTypeError(f"{word!r} is not a length of time such as 90s, 15m, 2h or 3d")
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
