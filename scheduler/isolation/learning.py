"""Updates of the evidence that a scheduler keeps about accounts and workers. Pure, like the rules that read it (`rules.py`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final
from zlib import crc32

from scheduler.isolation import rules
from scheduler.isolation.state import Evidence, Rank, Trust

REFRESH_SECONDS: Final = 60.0
"""Time for which the end of a segment is not recorded again: each record copies the others."""

QUICK_MAX: Final = 500
"""Maximum number of accounts that a scheduler remembers as quick. Statements compare each waiting account with them."""

WAITING_MAX: Final = 16
"""Maximum number of accounts of each trust whose waiting tasks a scheduler remembers."""


def ranks(renderers: Mapping[str, str]) -> dict[str, Rank]:
    """Return the ranks of these workers, by their renderers. If a worker comes or goes, the ranks of others change by at most one. The
    order is independent of the nodes, so that a lost node does not take all workers of low ranks."""
    workers, places = Counter(renderers.values()), Counter[str]()
    found: dict[str, Rank] = {}
    for worker in sorted(renderers, key=lambda name: (crc32(name.encode()), name)):
        renderer = renderers[worker]
        found[worker] = Rank(places[renderer], workers[renderer])
        places[renderer] += 1
    return found


def with_segment(evidence: Evidence, now: float, account_id: str) -> Evidence:
    """Remember that a segment of the account has ended. The least recent of many accounts are forgotten."""
    if now - evidence.quick_at.get(account_id, -math.inf) < REFRESH_SECONDS:
        return evidence
    latest = sorted({**evidence.quick_at, account_id: now}.items(), key=lambda one: one[1])[-QUICK_MAX:]
    return replace(evidence, quick_at={name: at for name, at in latest if now - at <= rules.TRUST_SECONDS})


def with_still(evidence: Evidence, now: float, account_id: str, frame_seconds: float) -> Evidence:
    """Remember the duration of a still's longest frame. The least recent of many accounts are forgotten."""
    quick, slow = dict(evidence.quick_stills_at), dict(evidence.slow_stills_at)
    quick.pop(account_id, None)
    if frame_seconds > rules.STILL_SLOW_SECONDS:
        slow.pop(account_id, None)
        slow[account_id] = now
    elif frame_seconds <= rules.STILL_QUICK_SECONDS:
        quick[account_id] = now
    return replace(evidence, quick_stills_at=_latest_of(quick), slow_stills_at=_latest_of(slow))


def with_waiting(evidence: Evidence, now: float, waiting: Collection[str], left: Collection[str]) -> Evidence:
    """Remember the accounts that have waiting tasks, and those of which some task found no worker."""
    waited, left_at = {**evidence.waited, **dict.fromkeys(waiting, now)}, {**evidence.left, **dict.fromkeys(left, now)}
    return with_trust(replace(evidence, waited=waited, left=left_at), now)


def with_trust(evidence: Evidence, now: float) -> Evidence:
    """Return the evidence after the trust of accounts has changed. Waiting tasks count for the trust that their account has now."""
    waited, left = _latest(evidence, now, evidence.waited), _latest(evidence, now, evidence.left)
    return replace(
        evidence,
        waited={name: at for one in waited.values() for name, at in one.items()},
        left={name: at for one in left.values() for name, at in one.items()},
        shared_at=sorted([-math.inf, -math.inf, *(at for one in waited.values() for at in one.values())])[-2],
        waited_at={trust: max(one.values()) for trust, one in waited.items()},
        left_at={trust: max(one.values()) for trust, one in left.items()},
    )


def _latest_of(times: Mapping[str, float]) -> dict[str, float]:
    """Return the QUICK_MAX entries that were added last."""
    return dict(list(times.items())[-QUICK_MAX:])


def _latest(evidence: Evidence, now: float, times: Mapping[str, float]) -> dict[Trust, dict[str, float]]:
    """Return the most recent of these times of accounts, by trust."""
    found: dict[Trust, dict[str, float]] = {}
    for name, at in sorted(times.items(), key=lambda one: -one[1]):
        of_trust = found.setdefault(rules.trust(evidence, now, name), {})
        if len(of_trust) < WAITING_MAX:
            of_trust[name] = at
    return found
