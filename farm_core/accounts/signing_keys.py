"""Public keys from a JWKS address. Requests to it are rare, whatever keys the tokens of callers name."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

import jwt

from farm_core.errors import Unavailable
from farm_core.telemetry import logs

LIFETIME_SECONDS: Final = 300.0
"""Time after which the keys are fetched again. Keys that are no longer listed then become invalid."""

COOLDOWN_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 5.0
"""Minimum time between two requests to the address, even if the first one failed: callers can send tokens of unknown
keys."""

TIMEOUT_SECONDS: Final = 5.0
_log = logs.logger(__name__)


class SigningKeys:
    """Keys of the address by id. If the address cannot be reached, the last known keys stay valid."""

    def __init__(self, url: str) -> None:
        self._client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_SECONDS)
        self._keys: dict[str, jwt.PyJWK] = {}
        self._asked_at = -math.inf
        self._listed_at = -math.inf
        """Times of the last request, and of the last one that was answered with keys (monotonic clock)."""
        self._lock = asyncio.Lock()
        """Allows one request at a time. Callers wait here without a thread."""

    async def key_of(self, token: str) -> jwt.PyJWK:
        """Return the key that the token names. Raises PyJWTError (unknown key, invalid token), or Unavailable if no
        keys can be fetched."""
        key_id = jwt.get_unverified_header(token).get("kid", "")
        # When known keys are due for renewal, one caller waits for the address. The others use the known keys.
        if key_id not in self._keys or (self._is_due() and not self._lock.locked()):
            async with self._lock:
                if key_id not in self._keys or self._is_due():
                    await self._renew()
        if key_id in self._keys:
            return self._keys[key_id]
        if self._has_failed():
            raise Unavailable
        raise jwt.InvalidKeyError("The address lists no such key.")

    def _has_failed(self) -> bool:
        return self._listed_at < self._asked_at

    def _is_due(self) -> bool:
        return time.monotonic() - self._listed_at >= LIFETIME_SECONDS

    async def _renew(self) -> None:
        """Fetch the keys, unless a request was made a moment ago."""
        now = time.monotonic()
        if now - self._asked_at < (RETRY_SECONDS if self._has_failed() else COOLDOWN_SECONDS):
            return
        self._asked_at = now
        try:
            keys = await asyncio.to_thread(self._client.get_signing_keys)
        except (jwt.PyJWTError, OSError, ValueError) as error:
            _log.warning("the keys of JWT_JWKS_URL cannot be read", reason=str(error), keys=len(self._keys))
            return
        self._keys = {key.key_id: key for key in keys if key.key_id is not None}
        self._listed_at = now
