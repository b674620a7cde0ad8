"""The progress of a running job comes from Redis, survives failures of Redis, and never decreases."""

from __future__ import annotations

import redis

from farm_core.progress.writer import ProgressWriter, SegmentProgress
from tests.api.world import Someone, World


def write(world: World, caller: Someone, job_id: str, frames: int) -> None:
    """Write a worker's progress for a job of 100 frames."""
    writer = ProgressWriter(world.settings.redis_url)
    writer.show(SegmentProgress("t", job_id, caller.account_id, 0, 100, 0).at(frames))
    writer.close()


def test_a_running_job_shows_what_its_workers_wrote_and_keeps_it_when_redis_forgets(own_world: World) -> None:
    caller = own_world.account()
    job_id = caller.job()
    own_world.move(job_id, "processing")

    def shown() -> float:
        (listed,) = [job for job in caller.get("/renders").json()["items"] if job["jobId"] == job_id]
        one = caller.get(f"/renders/{job_id}").json()
        assert one["progress"] == listed["progress"]
        return float(one["progress"])

    assert shown() == 0
    write(own_world, caller, job_id, 42)
    assert shown() == 42
    with redis.Redis.from_url(str(own_world.settings.redis_url)) as client:
        client.flushall()
    assert shown() == 42


def test_a_cancelled_job_keeps_the_progress_that_it_had(own_world: World) -> None:
    caller = own_world.account()
    job_id = caller.job()
    own_world.move(job_id, "processing")
    write(own_world, caller, job_id, 42)
    assert caller.post(f"/renders/{job_id}/cancel").json()["status"] == "cancelled"
    with redis.Redis.from_url(str(own_world.settings.redis_url)) as client:
        client.flushall()
    assert caller.get(f"/renders/{job_id}").json()["progress"] == 42
