"""Asking the farm for a still: rate, cache, then a worker."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Final, Protocol

import orjson

from farm_core.errors import BadRequest, RateLimited, Unavailable
from farm_core.rates import RateLimiter
from farm_core.settings import Settings
from farm_core.stills.exchange import ExchangeAway, StillAnswer, StillExchange, order_of
from farm_core.stills.options import POSTER, Frames, StillFormat, StillOptions, frames_of
from farm_core.stills.subject import StillSubject

KEPT_SECONDS: Final = 600
KEPT_BYTES_MAX: Final = 2_000_000
MEDIA_TYPES: Final = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


class StillDependencies(Protocol):
    """Dependencies of a request for a still. The API's `AppState` has them."""

    @property
    def settings(self) -> Settings:
        """Limits."""
        ...

    @property
    def rates(self) -> RateLimiter:
        """Count requests of an account."""
        ...

    @property
    def stills(self) -> StillExchange:
        """The way to a worker."""
        ...


@dataclass(frozen=True, slots=True)
class Still:
    """A picture's bytes. `etag` names them by content."""

    picture: bytes
    media_type: str
    warnings: tuple[str, ...] = ()

    @property
    def etag(self) -> str:
        """An entity tag, quoted."""
        return f'"{hashlib.sha256(self.picture).hexdigest()[:32]}"'


async def request_still(
    dependencies: StillDependencies, subject: StillSubject, options: StillOptions = POSTER
) -> Still:
    """A picture of the subject.

    Raises InvalidInputs for options that the subject does not have, RateLimited above the account's rate, BadRequest where
    the document or its media cannot be drawn, Unavailable where no worker answered in time. It costs no render minutes.
    """
    frames = frames_of(options, subject.width, subject.height, subject.fps, subject.frame_count)
    media_type, key = MEDIA_TYPES[options.format], _key(subject, frames, options.format)
    kept = await dependencies.stills.remembered(key)
    if kept is not None:
        return Still(kept, media_type)
    await _respect_rate(dependencies, subject.account_id)
    await _respect_strikes(dependencies.stills, subject.account_id)
    answer = await _answered(dependencies.stills, subject, frames, options.format)
    if len(answer.picture) <= KEPT_BYTES_MAX and _is_constant(subject):
        await dependencies.stills.remember(key, answer.picture, KEPT_SECONDS)
    return Still(answer.picture, media_type, answer.warnings)


async def _respect_rate(dependencies: StillDependencies, account_id: str) -> None:
    limit = dependencies.settings.stills_per_minute
    wait = await dependencies.rates.wait_seconds(f"stills:{account_id}", limit)
    if wait:
        raise RateLimited(wait, f"At most {limit} stills a minute may be drawn. Try again in {wait} s.")


async def _respect_strikes(exchange: StillExchange, account_id: str) -> None:
    try:
        wait = await exchange.barred_seconds(account_id)
    except ExchangeAway:
        raise Unavailable from None
    if wait:
        raise RateLimited(wait, f"Stills of this account took workers too long. They are drawn again in {wait} s.")


async def _answered(exchange: StillExchange, subject: StillSubject, frames: Frames, format: StillFormat) -> StillAnswer:
    try:
        answer = await exchange.ask(order_of(subject, frames, format))
    except ExchangeAway:
        raise Unavailable from None
    if answer is None:
        raise Unavailable("No render worker answered in time. Try again.")
    if answer.failure is not None:
        raise BadRequest(answer.failure) if answer.lasting else Unavailable(answer.failure)
    return answer


def _key(subject: StillSubject, frames: Frames, format: StillFormat) -> str:
    facts = [asdict(subject), asdict(frames), format]
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_constant(subject: StillSubject) -> bool:
    """True if equal requests give equal pictures: the bytes behind a given address may change."""
    return subject.frozen or not subject.inputs
