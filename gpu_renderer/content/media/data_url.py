"""`data:` URLs."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import unquote_to_bytes

from gpu_renderer.content.media.refusal import refused

BODY_MAX_BYTES = 256 << 20


def data_url_bytes(src: str) -> bytes:
    """Return the content of a `data:` URL. Raises MediaUndecodable if it is malformed or too large."""
    head, comma, body = src.partition(",")
    if not comma:
        raise refused("is a malformed data URL")
    if len(body) > BODY_MAX_BYTES:
        raise refused("is too large")
    raw = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return raw
    try:
        return base64.b64decode(raw.translate(None, b" \t\r\n"), validate=False)
    except binascii.Error as error:
        raise refused("is a malformed data URL") from error
