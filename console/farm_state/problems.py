"""Current problems of the farm, with remedies."""

from __future__ import annotations

import asyncio
from typing import Final

from redis.exceptions import RedisError, ResponseError

from api.app_state import AppState
from console.farm_state.snapshot import Problem, Snapshot
from console.formatting import size
from farm_core.jobs.models import Worker
from farm_core.redis import CHECK_KEY
from farm_core.storage.disk_space import ROOM_BYTES, check_temporary_room, reserve_bytes
from farm_core.storage.port import StorageUnavailable
from farm_core.usage.stored import count_waiting_accounts, reserve_share

OLD_SECONDS: Final = 300
FAILED_SHARE: Final = 0.2
FREE_SHARE: Final = 0.05


async def problems(state: AppState, snapshot: Snapshot) -> list[Problem]:
    """Return the problems, worst first. A full disk comes before its consequences. Missing optional parts come last."""
    found = [
        *await _storage(state, snapshot), *_workers(snapshot), *_queue(snapshot), *await _redis(state),
        *_results(snapshot), *_webhooks(snapshot), *_devices(snapshot),
    ]  # fmt: skip
    return sorted(found, key=lambda problem: not problem.severe)


async def _storage(state: AppState, snapshot: Snapshot) -> list[Problem]:
    try:
        if full := _disk(snapshot):
            return [*full, *await _waiting_accounts(state)]
        await asyncio.to_thread(state.storage.check)
    except StorageUnavailable as error:
        place = "the bucket and its credentials" if state.settings.s3_bucket else "the disk of the data folder"
        return [Problem("Storage is not available.", f"No render can finish. Check {place}: {error}", severe=True)]
    try:
        await asyncio.to_thread(check_temporary_room)
    except StorageUnavailable as error:
        advice = f"Uploads are refused and renders wait. Free some space: {error}."
        return [Problem("The disk of temporary files is full.", advice, severe=True)]
    return []


async def _redis(state: AppState) -> list[Problem]:
    try:
        await state.redis.set(CHECK_KEY, 1, ex=60)
    except (RedisError, OSError) as error:
        what = "Redis refuses writes." if isinstance(error, ResponseError) else "Redis does not answer."
        return [Problem(what, f"Renders go on without live progress and previews. Look at its log: {error}")]
    return []


async def _waiting_accounts(state: AppState) -> list[Problem]:
    """Report the accounts whose jobs wait until the disk has its reserve again."""
    async with state.database.reading() as session:
        share = await reserve_share(session, state.storage)
        waiting, queued = (0, 0) if share is None else await count_waiting_accounts(session, share)
    if not share or not waiting:
        return []
    advice = (
        f"Each of them stores more than {size(share)}. Free space, or let these accounts delete templates and presets."
    )
    what = f"Renders of {waiting} of the {queued} accounts with queued renders wait for disk space."
    return [Problem(what, advice, "/console/renders?status=queued", "Show the queue", severe=True)]


def _workers(snapshot: Snapshot) -> list[Problem]:
    totals = snapshot.worker_counts
    if not totals.get("live", 0) + totals.get("busy", 0):
        advice = "Renders wait until one takes work. Run ./farm doctor on the machine that should render."
        if totals.get("drained", 0) + totals.get("quarantined", 0):
            advice = "Renders wait until one takes work. Resume the workers that are drained or in quarantine."
        return [Problem("No worker takes work.", advice, "/console/workers", severe=True)]
    found = []
    if full := sorted(
        {one.worker.node for one in snapshot.workers if one.state in ("live", "busy") and _is_full(one.worker)}
    ):
        advice = f"Its workers give their segments back. Free some space for temporary files on {', '.join(full)}."
        found.append(Problem("The disk of a render machine is full.", advice, "/console/workers"))
    if resting := totals.get("quarantined", 0):
        advice = (
            "They failed several times in a row, or an operator quarantined them. They take work again after their rest. "
            "Look at the failures below, or resume them now."
        )
        found.append(
            Problem(f"{resting} {'worker rests' if resting == 1 else 'workers rest'}.", advice, "/console/workers")
        )
    return found


def _is_full(worker: Worker) -> bool:
    return worker.disk_free_bytes is not None and worker.disk_free_bytes < ROOM_BYTES


def _devices(snapshot: Snapshot) -> list[Problem]:
    taking = [one for one in snapshot.workers if one.state in ("live", "busy")]
    if not taking or not all("llvmpipe" in one.worker.device.lower() for one in taking):
        return []
    advice = "Every worker draws on the processor. If this machine has a GPU, ./farm doctor says why it is not used."
    return [Problem("No worker has a GPU.", advice, "/console/workers")]


def _queue(snapshot: Snapshot) -> list[Problem]:
    if snapshot.paused_since is not None:
        return [Problem("The whole queue is paused.", "Nothing new is started until somebody resumes it.", severe=True)]
    if snapshot.oldest is not None and (snapshot.at - snapshot.oldest).total_seconds() > OLD_SECONDS:
        minutes = int((snapshot.at - snapshot.oldest).total_seconds() // 60)
        advice = "The farm is busier than it can keep up with. Add workers, or pause or lower an account that fills the queue."
        what = f"A render has waited for {minutes} min."
        return [Problem(what, advice, "/console/accounts?order=queued", "Show who queues most")]
    return []


def _results(snapshot: Snapshot) -> list[Problem]:
    ended = snapshot.hour.completed + snapshot.hour.failed
    if ended < 5 or snapshot.hour.failed / ended < FAILED_SHARE:
        return []
    share = f"{100 * snapshot.hour.failed / ended:.0f} %"
    return [Problem(f"{share} of the renders of the last hour failed.", "The reasons are below.",
                    "/console/renders?status=failed&period=1h", "Show the failures")]  # fmt: skip


def _webhooks(snapshot: Snapshot) -> list[Problem]:
    if not (lost := snapshot.dropped_webhooks):
        return []
    what = "A webhook was dropped: its receiver has not accepted it."
    if lost > 1:
        what = f"{lost:,} webhooks were dropped: their receivers have not accepted them."
    advice = "The farm does not try again by itself. Send them again once the receivers answer."
    return [Problem(what, advice, "/console/account/webhooks?status=dropped", "Show the dropped webhooks")]


def _disk(snapshot: Snapshot) -> list[Problem]:
    free, total = snapshot.storage.free, snapshot.storage.total
    if free is None or not total or free > max(FREE_SHARE * total, reserve_bytes(total)):
        return []
    advice = (
        "Large uploads are refused, and renders of accounts that store much may wait. "
        "Once it is full, all uploads are refused and all renders wait. Free some space, or lower SEGMENT_CACHE_BYTES or RESULT_DAYS and restart the farm."
    )
    return [Problem(f"Only {size(free)} of the disk are free.", advice, severe=True)]
