"""Present problems of the farm, with remedies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from api.app_state import AppState
from farm_core.storage.port import StorageUnavailable

if TYPE_CHECKING:
    from console.overview.snapshot import Snapshot

OLD_SECONDS: Final = 300
FAILED_SHARE: Final = 0.2
FREE_SHARE: Final = 0.05
_PROBE: Final = "ready/probe"


@dataclass(frozen=True, slots=True)
class Problem:
    """`severe` problems stop renders; the others slow them down."""

    what: str
    advice: str
    href: str | None = None
    severe: bool = False


async def problems(state: AppState, snapshot: Snapshot) -> list[Problem]:
    """Return what is wrong, the worst first."""
    found = [*await _parts(state), *_workers(snapshot), *_queue(snapshot), *_results(snapshot), *_disk(snapshot)]
    return sorted(found, key=lambda problem: not problem.severe)


async def _parts(state: AppState) -> list[Problem]:
    found = []
    try:
        await state.redis.ping()
    except (RedisError, OSError):
        found.append(
            Problem("Redis does not answer.", "Live progress and previews are away. Look at its log.", severe=True)
        )
    try:
        await asyncio.to_thread(state.storage.exists, _PROBE)
    except StorageUnavailable:
        found.append(
            Problem(
                "Storage does not answer.", "No render can finish. Check the bucket and its credentials.", severe=True
            )
        )
    return found


def _workers(snapshot: Snapshot) -> list[Problem]:
    totals = snapshot.worker_counts
    if not totals.get("live", 0) + totals.get("busy", 0):
        advice = "Renders wait until one takes work. Run ./farm doctor on the machine that should render."
        if totals.get("drained", 0) + totals.get("quarantined", 0):
            advice = "Renders wait until one takes work. Resume the workers that are drained or in quarantine."
        return [Problem("No worker takes work.", advice, "/console/workers", severe=True)]
    found = []
    if resting := totals.get("quarantined", 0):
        advice = "They failed several times in a row. Look at the failures below, then resume them."
        found.append(
            Problem(f"{resting} {'worker rests' if resting == 1 else 'workers rest'}.", advice, "/console/workers")
        )
    if all("llvmpipe" in one.worker.device.lower() for one in snapshot.workers if one.state in ("live", "busy")):
        advice = (
            "Every worker draws on the processor. If this machine has a GPU, ./farm doctor says why it is not used."
        )
        found.append(Problem("No worker has a GPU.", advice, "/console/workers"))
    return found


def _queue(snapshot: Snapshot) -> list[Problem]:
    if snapshot.paused_since is not None:
        return [Problem("The whole queue is paused.", "Nothing new is started until somebody resumes it.")]
    if snapshot.oldest is not None and (snapshot.at - snapshot.oldest).total_seconds() > OLD_SECONDS:
        minutes = int((snapshot.at - snapshot.oldest).total_seconds() // 60)
        advice = (
            "The farm is busier than it can keep up with. Add workers, or look for an account that fills the queue."
        )
        return [Problem(f"A render has waited for {minutes} min.", advice, "/console/renders?status=queued")]
    return []


def _results(snapshot: Snapshot) -> list[Problem]:
    ended = snapshot.hour.completed + snapshot.hour.failed
    if ended < 5 or snapshot.hour.failed / ended < FAILED_SHARE:
        return []
    share = f"{100 * snapshot.hour.failed / ended:.0f} %"
    return [Problem(f"{share} of the renders of the last hour failed.", "The reasons are below.",
                    "/console/renders?status=failed&period=1h")]  # fmt: skip


def _disk(snapshot: Snapshot) -> list[Problem]:
    free, total = snapshot.storage.free, snapshot.storage.total
    if free is None or not total or free / total >= FREE_SHARE:
        return []
    advice = "Make room, or lower SEGMENT_CACHE_BYTES and RESULT_DAYS. Renders fail when the disk is full."
    return [Problem(f"Only {free / 1e9:.1f} GB of the disk are free.", advice, severe=True)]
