"""Reasons to refuse a file."""

from __future__ import annotations


class NotRenderable(Exception):
    """The renderer cannot decode the file; the message is the reason, as part of a sentence."""


SIDE_PX_MAX = 16_384
PICTURE_PIXELS_MAX = 100_000_000


def check_size(width: float, height: float) -> None:
    """Raise NotRenderable if a picture is empty or too large."""
    if width < 1 or height < 1:
        raise NotRenderable("the picture has no size")
    if max(width, height) > SIDE_PX_MAX or width * height > PICTURE_PIXELS_MAX:
        raise NotRenderable(
            f"the picture is too large ({width:g} x {height:g}); at most {PICTURE_PIXELS_MAX:,} pixels"
            f" and {SIDE_PX_MAX:,} on a side can be drawn"
        )
