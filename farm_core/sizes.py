"""Format file sizes."""

from __future__ import annotations

from typing import Final

_MB: Final = 1024 * 1024
"""A megabyte in the interface: a `maxUploadBytes` of 104,857,600 is 100 MB."""


def in_words(count: int) -> str:
    """Return a text for a number of bytes, such as `100 MB`, `1.5 MB`, or `2,000 bytes` below one megabyte."""
    return f"{count / _MB:,.1f} MB".replace(".0 MB", " MB") if count >= _MB else f"{count:,} bytes"
