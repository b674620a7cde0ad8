"""Rules for sending a request again, and the delays."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import httpx

from render_farm_client.calls import Call
from render_farm_client.errors import ApiError, NoAnswer

PAUSE_SECONDS = 0.3
PAUSE_SECONDS_MAX = 20.0
ASKED_SECONDS_MAX = 30.0
"""Limit of the pause that a 5xx asks for. A proxy can ask for an hour of maintenance."""
POLL_SECONDS = 0.25
POLL_SECONDS_MAX = 5.0


def answered(call: Call[Any], answer: httpx.Response) -> Any:
    """Return the content of the answer. Raises ApiError."""
    if answer.is_success:
        return call.read(answer)
    if answer.has_redirect_location:
        raise ApiError(
            answer.status_code,
            {"message": f"{answer.url} leads to {answer.headers['Location']}. Give the client that server."},
        )
    try:
        body = answer.json()
    except ValueError:
        body = {}
    raise ApiError(answer.status_code, body if isinstance(body, dict) else {})


def pause_after(call: Call[Any], answer: httpx.Response | None, attempt: int) -> float | None:
    """Return the seconds until the next attempt, None if there is none. `answer` is None for a lost connection."""
    if attempt + 1 >= call.attempts:
        return None
    if answer is None:
        return _pause(attempt) if call.repeats else None
    if answer.status_code == 429:
        return max(_asked_pause(answer), _pause(attempt))
    if answer.status_code >= 500 and call.repeats:
        return max(min(_asked_pause(answer), ASKED_SECONDS_MAX), _pause(attempt))
    return None


def lost(call: Call[Any], error: httpx.TransportError) -> NoAnswer:
    """Return the error for a farm that does not answer."""
    return NoAnswer(f"{call.method} {error.request.url}: no answer: {error}")


def poll_pauses() -> Iterator[float]:
    """Yield the pauses between polls of a render, short ones first."""
    pause = POLL_SECONDS
    while True:
        yield pause
        pause = min(POLL_SECONDS_MAX, pause * 1.3)


def base_url(server: str) -> str:
    """Return the API's address, from an origin or from the address itself."""
    bare = server.strip().rstrip("/")
    if not bare.lower().startswith(("http://", "https://")):
        raise ValueError(f"server must be an address such as https://farm.example.com, not {server!r}")
    if bare.endswith("/v1"):
        return bare
    return f"{bare}/v1" if bare.endswith("/api") else f"{bare}/api/v1"


def headers(key: str | None, token: str | None) -> dict[str, str]:
    """Return the credential, without the line break of the file that it may come from. Raises ValueError."""
    credential = (key or token or "").strip()
    if not credential.isascii():
        raise ValueError("the key or token has letters that no key has: copy it again")
    return {"Authorization": f"Bearer {credential}"} if credential else {}


def _asked_pause(answer: httpx.Response) -> float:
    """Return the seconds of the header Retry-After, 0 for a date, which proxies can send, and for no number."""
    asked = answer.headers.get("Retry-After", "")
    return float(asked) if re.fullmatch(r"[0-9]{1,9}", asked) else 0.0


def _pause(attempt: int) -> float:
    return min(PAUSE_SECONDS_MAX, PAUSE_SECONDS * 2.0**attempt) * random.uniform(0.5, 1.0)
