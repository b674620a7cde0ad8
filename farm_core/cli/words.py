"""Reading words of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from `least` up to and with `most`, for `add_argument(type=...)`."""
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
