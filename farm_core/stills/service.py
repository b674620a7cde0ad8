"""Request a still: check the rate limit and the cache, then ask a worker."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Final, Protocol

import orjson

from farm_core.errors import BadRequest, RateLimited, Unavailable
from farm_core.rates import RateLimiter
from farm_core.settings import Settings
from farm_core.stills.exchange import ExchangeAway, StillAnswer, StillExchange, queued_still
from farm_core.stills.options import Frames, StillFormat, StillOptions, frames_of
from farm_core.stills.subject import StillSubject

RETRY_SECONDS: Final = 1
CACHE_SECONDS: Final = 600
CACHED_BYTES_MAX: Final = 2_000_000
_AWAY: Final = "Previews are not available right now. Renders go on without them. Try again in a few seconds."
MEDIA_TYPES: Final = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


class StillDependencies(Protocol):
    """Dependencies of a request for a still. The API's `AppState` implements them."""

    @property
    def settings(self) -> Settings:
        """Settings with the limits."""
        ...

    @property
    def rates(self) -> RateLimiter:
        """Counter of requests by account."""
        ...

    @property
    def stills(self) -> StillExchange:
        """Exchange with the workers."""
        ...


@dataclass(frozen=True, slots=True)
class Still:
    """A picture file, with notices of what it omits."""

    picture: bytes
    media_type: str
    warnings: tuple[str, ...] = ()


async def request_still(dependencies: StillDependencies, subject: StillSubject, options: StillOptions) -> Still:
    """Return a picture of the subject.

    Raises InvalidInputs for invalid options, RateLimited above the account's rate or if too many newer ones wait, BadRequest if
    the document or its media cannot be drawn, Unavailable if no worker answered in time. It costs no render minutes.
    """
    frames = frames_of(options, subject.width, subject.height, subject.fps, subject.frame_count)
    media_type, key = MEDIA_TYPES[options.format], _key(subject, frames, options.format)
    try:
        cached = await dependencies.stills.cached(key)
    except ExchangeAway:
        raise Unavailable(_AWAY) from None
    if cached is not None:
        return Still(cached.picture, media_type, cached.warnings)
    limit = dependencies.settings.stills_per_minute
    await dependencies.rates.require(
        f"stills:{subject.account_id}", limit, f"At most {limit} stills a minute may be drawn."
    )
    await _respect_strikes(dependencies.stills, subject.account_id)
    answer = await _ask(dependencies.stills, subject, frames, options.format)
    if len(answer.picture) <= CACHED_BYTES_MAX and _is_constant(subject):
        await dependencies.stills.cache(key, answer, CACHE_SECONDS)
    return Still(answer.picture, media_type, answer.warnings)


async def _respect_strikes(exchange: StillExchange, account_id: str) -> None:
    try:
        wait = await exchange.barred_seconds(account_id)
    except ExchangeAway:
        raise Unavailable(_AWAY) from None
    if wait:
        raise RateLimited(wait, f"Stills of this account took workers too long. They are drawn again in {wait} s.")


async def _ask(exchange: StillExchange, subject: StillSubject, frames: Frames, format: StillFormat) -> StillAnswer:
    try:
        answer = await exchange.ask(queued_still(subject, frames, format))
    except ExchangeAway:
        raise Unavailable(_AWAY) from None
    if answer is None:
        raise Unavailable("No render worker answered in time. Try again.")
    if answer.is_limit:
        raise RateLimited(RETRY_SECONDS, f"{answer.failure} Try again in {RETRY_SECONDS} s.")
    if answer.failure is not None:
        raise BadRequest(answer.failure) if answer.lasting else Unavailable(answer.failure)
    return answer


def _key(subject: StillSubject, frames: Frames, format: StillFormat) -> str:
    facts = [asdict(subject), asdict(frames), format]
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_constant(subject: StillSubject) -> bool:
    """Return True if equal requests give equal pictures: the media behind a given URL can change."""
    return subject.frozen or not subject.inputs
