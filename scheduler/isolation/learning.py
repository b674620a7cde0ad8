"""Rules of evidence: what a scheduler remembers about accounts. Pure, like the rules that read it (`rules.py`)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from scheduler.isolation import rules
from scheduler.isolation.state import Blocking, Evidence, Frame, Seen, Strike, View
from scheduler.running_tasks import RunningTask

SAME_SECONDS: Final = 0.5
"""Largest difference between two readings of the time of one strike."""

REFRESH_SECONDS: Final = 60.0
"""Time for which a quick segment is not recorded again: each record copies the others."""

QUICK_MAX: Final = 500
"""Maximum number of accounts with quick segments that a scheduler remembers. Statements compare each waiting account with them."""


def with_proven(evidence: Evidence, now: float, proven: Collection[str]) -> Evidence:
    """Remember when proven accounts last had tasks, of those that could use the protected worker."""
    limited = {account_id for account_id, until in evidence.limited_until.items() if until > now}
    return replace(evidence, proven_at=now) if set(proven) - limited - evidence.restricted.keys() else evidence


def with_wait(evidence: Evidence, view: View, task: RunningTask) -> Evidence:
    """Add the time since the last round to that for which slow frames of an account have blocked others: frames that are each just short
    enough delay others as much as a long one."""
    holder, now = view.holder(task), view.now
    if (
        holder is None
        or view.quiet_seconds(task) <= rules.SLOW_SECONDS
        or rules.is_limited(evidence, view, task.assignment.account_id)
    ):
        return evidence
    blocking = {name: one for name, one in evidence.blocking.items() if now - one.last_at <= rules.LIMIT_SECONDS}
    seconds, last_at = blocking.get(holder.account_id, Blocking(0.0, now))
    if now - last_at < rules.SLOW_SECONDS:  # else the account blocked nobody in between
        seconds += now - last_at
    blocking[holder.account_id] = Blocking(seconds, now)
    return replace(evidence, blocking=blocking)


def strike_of(evidence: Evidence, view: View, holder: Frame) -> Strike:
    """Return the strike for an interrupted frame. Its worker, which is empty then, is freed for others, unless another one is protected
    already."""
    others = {evidence.protected_worker, *({evidence.freed_worker} & view.workers.keys())} - {None, holder.worker_id}
    is_protected = rules.confinement(evidence, view) != rules.Confinement() and bool(others)
    return Strike(view.now, holder.account_id, holder.worker_id, holder.is_proven, not is_protected)


def with_strikes(evidence: Evidence, strikes: Sequence[Strike]) -> Evidence:
    """Limit the accounts of interrupted frames, and protect the worker that was freed last. Strikes are in order of time, and those that
    are known already change nothing.

    If the account is unproven, all unproven ones are confined with it (`rules.confinement`), because new accounts with slow frames come in numbers.
    """
    for strike in strikes:
        until = strike.at + rules.LIMIT_SECONDS
        if evidence.limited_until.get(strike.account_id, -math.inf) >= until - SAME_SECONDS:
            continue
        limited = {name: end for name, end in evidence.limited_until.items() if end > strike.at}
        limited[strike.account_id] = until
        unproven_until = evidence.unproven_until
        if not strike.is_proven:
            unproven_until = max(
                unproven_until, strike.at + min(rules.LIMIT_SECONDS, rules.UNPROVEN_SECONDS * len(limited))
            )
        blocking = {name: one for name, one in evidence.blocking.items() if name != strike.account_id}
        further = {
            **evidence.further_protected,
            strike.worker_id: Seen("", strike.at),
        }  # it starts, and is then left to others
        evidence = replace(
            evidence, limited_until=limited, blocking=blocking, unproven_until=unproven_until, further_protected=further
        )
        if strike.frees and strike.at > evidence.freed_at:
            freed, at = strike.worker_id, strike.at
            evidence = replace(evidence, freed_worker=freed, freed_at=at, protected_worker=freed, several_usable_at=at)
    return evidence


def with_suspects(evidence: Evidence, view: View) -> Evidence:
    """While accounts are limited, suspect those that have a slow frame now."""
    if not rules.limited_accounts(evidence, view.now):
        return evidence if not evidence.suspected_until else replace(evidence, suspected_until={})
    slow = (view.frame_of(worker) for worker in view.workers.values() if rules.has_slow_frame(view, worker))
    found = {frame.account_id: view.now + rules.SUSPECTED_SECONDS for frame in slow if frame is not None}
    known = {account_id: until for account_id, until in evidence.suspected_until.items() if until > view.now}
    return replace(evidence, suspected_until=known | found)


def with_quick(evidence: Evidence, now: float, account_id: str, frame_seconds: float) -> Evidence:
    """Remember that a segment of the account has ended whose frames took so long on average, if that is quick. The least recent of many
    accounts are forgotten."""
    if frame_seconds > rules.QUICK_SECONDS or now - evidence.quick_at.get(account_id, -math.inf) < REFRESH_SECONDS:
        return evidence
    latest = sorted({**evidence.quick_at, account_id: now}.items(), key=lambda one: one[1])[-QUICK_MAX:]
    return replace(evidence, quick_at={name: at for name, at in latest if now - at <= rules.LIMIT_SECONDS})


def with_others(evidence: Evidence, now: float, *, are_left: bool) -> Evidence:
    """Remember when accounts that are not confined last had waiting tasks, and whether some found no worker."""
    return replace(evidence, others_at=now, others_waited_at=now if are_left else evidence.others_waited_at)
