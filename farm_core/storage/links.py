"""Signed, expiring links to stored objects on the farm's own origin, under `/files/`."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from farm_core.clock import Clock, SystemClock

PATH_PREFIX: Final = "/files/"
_FIELDS_MAX: Final = 20
"""Maximum number of query fields that are read. A link has three."""


class Links:
    """Sign and verify links. Altered or expired links are refused."""

    def __init__(self, secret: bytes, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._key = hmac.digest(secret, b"links to stored objects", hashlib.sha256)

    def url(self, origin: str, key: str, expires_at: int, filename: str | None = None) -> str:
        """Return the URL that serves the object until `expires_at` (seconds since 1970), saved as `filename` if
        given."""
        query = {"expires": str(expires_at), "signature": self._signature(key, expires_at, filename or "")}
        if filename:
            query["filename"] = filename
        return f"{origin.rstrip('/')}{PATH_PREFIX}{quote(key)}?{urlencode(query)}"

    def opens(self, key: str, expires: str, signature: str, filename: str = "") -> bool:
        """Return True if the link's parts match its signature and it has not expired."""
        if not (expires.isascii() and expires.isdigit()) or len(expires) > 12 or int(expires) < self._now():
            return False
        return hmac.compare_digest(self._signature(key, int(expires), filename).encode(), signature.encode())

    def signed(self, key: str, query: str) -> bool:
        """Return True if a URL's query is a valid signature for the object that has not expired."""
        try:
            given = dict(parse_qsl(query, max_num_fields=_FIELDS_MAX))
        except ValueError:
            return False
        return self.opens(key, given.get("expires", ""), given.get("signature", ""), given.get("filename", ""))

    def _signature(self, key: str, expires_at: int, filename: str) -> str:
        message = f"{key}\n{expires_at}\n{filename}".encode()
        return hmac.digest(self._key, message, hashlib.sha256).hex()

    def in_seconds(self, seconds: int, round_to: int = 1) -> int:
        """Return the time in `seconds` from now, rounded up to a multiple of `round_to` seconds, so that links
        repeat."""
        return -int(-(self._now() + seconds) // round_to) * round_to

    def _now(self) -> float:
        return self._clock.now().timestamp()
