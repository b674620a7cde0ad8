"""When a scheduler gives up on a Ray cluster that does not answer."""

from __future__ import annotations

import asyncio

import pytest

from cluster.liveness import BUSY_SECONDS, UNREACHABLE_SECONDS, Liveness, wait_until_reachable
from cluster.local.ray_head import free_port


class Clock:
    """Clock in seconds, set by tests."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _is_gone(address: str, *silences: float) -> list[bool]:
    """Return for each silence, in seconds, if the cluster counts as gone."""
    clock = Clock()
    liveness = Liveness(address, clock)
    began, found = clock.now, []
    for silence in silences:
        clock.now = began + silence
        found.append(asyncio.run(liveness.is_gone()))
    return found


def test_a_cluster_that_accepts_no_connections_is_gone_soon() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    assert _is_gone(nobody, 0.0, UNREACHABLE_SECONDS - 1, UNREACHABLE_SECONDS) == [False, False, True]


def test_a_cluster_that_accepts_connections_is_busy_and_gets_more_time(deaf_ray: str) -> None:
    assert _is_gone(deaf_ray, UNREACHABLE_SECONDS, BUSY_SECONDS - 1, BUSY_SECONDS) == [False, False, True]


def test_an_answer_ends_the_silence() -> None:
    clock = Clock()
    liveness = Liveness(f"127.0.0.1:{free_port()}", clock)
    clock.now += UNREACHABLE_SECONDS
    liveness.heard()
    assert not asyncio.run(liveness.is_gone())


async def test_a_cluster_is_waited_for_until_it_accepts_connections() -> None:
    port = free_port()
    waiting = asyncio.create_task(wait_until_reachable(f"127.0.0.1:{port}", 60))
    await asyncio.sleep(0)
    assert not waiting.done()
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port):
        await waiting


def test_a_cluster_that_never_accepts_connections_is_waited_for_no_longer_than_wanted() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(wait_until_reachable(f"127.0.0.1:{free_port()}", 0.3))
