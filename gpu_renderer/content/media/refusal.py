"""Refusal of a picture."""

from __future__ import annotations

from gpu_renderer.errors import MediaUndecodable


def refused(reason: str) -> MediaUndecodable:
    """Return the error for a picture that `reason` ("is damaged")."""
    return MediaUndecodable(f"a picture {reason}", f"A picture {reason}.")
