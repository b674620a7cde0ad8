"""Run one scheduler process until SIGTERM or SIGINT, with `python -m scheduler`. Any number can run. It exits with 0
when drained."""

from __future__ import annotations

import farm_core.quick_start  # noqa: F401  # isort: skip
import argparse
import asyncio
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvloop

from farm_core import redis
from farm_core.clock import FollowingClock
from farm_core.db import schema, storage_claim
from farm_core.db.database import Database
from farm_core.net.fetch import Guard
from farm_core.net.resolver import patient_resolver
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.sandbox import Sandbox
from farm_core.scratch import Scratch
from farm_core.settings import Settings, settings
from farm_core.stills.exchange import StillExchange
from farm_core.storage.choice import storage_of
from farm_core.telemetry import logs, traces
from farm_core.user_error import status_of
from scheduler import metrics
from scheduler.dependencies import Dependencies
from scheduler.scheduler import Scheduler

RESTART: Final = 3
"""Exit status of a scheduler that has lost its cluster. The supervisor restarts it."""

DESCRIPTORS: Final = 16_384
"""Number of open files and connections that the process is allowed, if the hard limit permits it."""

gc.enable()

_log = logs.logger(__name__)


def main(words: list[str]) -> int:
    """Run until a signal stops the scheduler. Return RESTART if the executor is gone for good."""
    parser = argparse.ArgumentParser(prog="python -m scheduler", description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="data folder of the embedded dependencies")
    parser.add_argument(
        "--cluster", type=int, default=None, metavar="N", help="the N-th address of RAY_ADDRESS, from 1"
    )
    parser.add_argument(
        "--wait-for-schema", action="store_true", help="begin when the database has this version's schema"
    )
    arguments = parser.parse_args(words)
    chosen = settings() if arguments.data is None else settings().model_copy(update={"data_folder": arguments.data})
    if chosen.database_url is None or chosen.ray_address is None:
        parser.error("set DATABASE_URL and RAY_ADDRESS")
    if len(chosen.ray_addresses) > 1 or arguments.cluster is not None:
        if arguments.cluster is None or not 1 <= arguments.cluster <= len(chosen.ray_addresses):
            parser.error(f"RAY_ADDRESS names {len(chosen.ray_addresses)} clusters: choose one with --cluster, from 1")
        chosen = chosen.model_copy(update={"ray_address": chosen.ray_addresses[arguments.cluster - 1]})
    logs.set_up(chosen.log_level)
    traces.set_up(chosen, "scheduler")
    if chosen.metrics_port is not None:
        metrics.serve(chosen.metrics_host, chosen.metrics_port)
    return uvloop.run(_run(chosen, waits_for_schema=arguments.wait_for_schema))


async def _run(chosen: Settings, *, waits_for_schema: bool) -> int:
    gc.disable()
    stop = asyncio.Event()
    _allow_descriptors()
    # A signal during the start ends the process at once: it holds no work yet, and joining a cluster cannot be
    # interrupted.
    _listen_to_signals(lambda: os._exit(0))
    with Scratch("scheduler") as scratch:
        dependencies = dependencies_of(chosen, scratch)
        await storage_claim.check(str(chosen.database_url), dependencies.storage)
        scheduler = Scheduler(dependencies, str(chosen.database_url))
        schema_there = asyncio.to_thread(schema.wait, str(chosen.database_url)) if waits_for_schema else None
        try:
            await scheduler.start(schema_there)
        except (TimeoutError, ConnectionError) as error:
            _log.warning("the cluster does not answer", address=chosen.ray_address, error=logs.in_a_line(error))
            return RESTART
        _listen_to_signals(stop.set)  # joining a cluster replaces the signal handlers
        gc.freeze()  # a full collection of objects that never die delays all services by 30 ms or more
        gc.enable()
        _log.info("scheduler ready", workers=len(dependencies.executor.workers()))
        lost = await _first(stop, dependencies.executor.gone)
        await scheduler.stop()
    return RESTART if lost else 0


def _allow_descriptors() -> None:
    """Raise the soft limit of open files, as the media of many accounts can be fetched at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def dependencies_of(chosen: Settings, scratch: Path) -> Dependencies:
    """Build the scheduler's dependencies from the settings."""
    from cluster.ray_executor import RayExecutor  # noqa: PLC0415 - Ray is slow to import

    assert chosen.database_url is not None and chosen.ray_address is not None, "the caller has checked"
    storage = storage_of(chosen)
    database = Database(chosen.database_url, ping=False)
    client = None if chosen.redis_url is None else redis.connect(chosen.redis_url)
    return Dependencies(
        database=database,
        storage=storage,
        executor=RayExecutor(chosen, chosen.ray_address),
        media_guard=Guard(allow_private=chosen.automation_allow_private_assets, resolve=patient_resolver),
        callback_guard=Guard(allow_private=chosen.automation_allow_private_callbacks),
        clock=FollowingClock(),
        settings=chosen,
        scratch=scratch,
        sandbox=Sandbox(is_confined=chosen.drawing_sandbox),
        progress=ProgressReader(client, database),
        changes=ChangePublisher(client),
        stills=None if chosen.redis_url is None else StillExchange(chosen.redis_url),
    )


def _listen_to_signals(end: Callable[[], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)


async def _first(stop: asyncio.Event, gone: asyncio.Event) -> bool:
    """Wait for either event; return True if the executor is gone."""
    waits = [asyncio.create_task(event.wait()) for event in (stop, gone)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    return gone.is_set() and not stop.is_set()


if __name__ == "__main__":
    status = status_of(main)
    traces.shut_down()
    sys.stderr.flush()
    os._exit(status)  # threads that wait for a dead cluster would block a normal exit
