"""Cut off, add and lose machines of a farm during rendering. Other machines come and go with the queue."""

from __future__ import annotations

import io
import time
from collections import Counter
from pathlib import Path
from typing import Any

import av
import psutil
import pytest

from tests import machines
from tests.acceptance.farm import ROOT, imported, run_farm, uploaded
from tests.acceptance.fleet import PATIENCE_SECONDS, Feeder, Fleet, fleet, head_only, wait_for
from tests.acceptance.hooks import Hook, hook
from tests.deadlocks import deadlocks

REFUSAL = machines.refusal()
CUT_SECONDS = 60
SECONDS = 3
FPS = 30
WORKERS_MAX = 4
JOBS_MAX = 150
HEAD_SECONDS = 1200
"""Ray gives up a start that is not done after 30 s, so a head on a busy machine may need many."""


@pytest.mark.slow
@pytest.mark.acceptance
@pytest.mark.timeout(3600)
@pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
def test_no_job_is_lost_or_doubled_while_machines_come_and_go(tmp_path: Path) -> None:
    with fleet(tmp_path) as made, hook(made.network.address) as receiver:
        feeder = Feeder(made.farm, receiver.url)
        feeder.start()
        try:
            feeder.wait_for_more()
            _cut_off(made, feeder)
            _add_and_remove(made, feeder)
            _restart_the_head(made, feeder)
        finally:
            feeder.finish()
        _take_stock(made, feeder, receiver)


@pytest.mark.slow
@pytest.mark.acceptance
@pytest.mark.timeout(4800)
@pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
def test_a_cluster_grows_from_no_workers_as_the_queue_fills_and_shrinks_to_none_when_it_is_empty(
    tmp_path: Path,
) -> None:
    # Ray's fake nodes are processes on the head's machine; everything else is as on real machines.
    settings = {"WORKERS_MAX": str(WORKERS_MAX), "WORKERS_KEEP_SECONDS": "15"}
    ray_settings = {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
    with head_only(tmp_path, _growing_cluster(), **settings, **ray_settings) as made:
        wait_for(lambda: _ray_is_up(made), HEAD_SECONDS, lambda: "Ray's head does not start")
        for turn in range(2):
            _wait_until_empty(made)
            jobs = _grown(made, turn)
            assert {made.farm.ended(job, seconds=300)["status"] for job in jobs} == {"completed"}
        _wait_until_empty(made)


def _ray_is_up(made: Fleet) -> bool:
    return "Ray runtime started" in (made.head.folder / "render-farm-head.log").read_text()


def _wait_until_empty(made: Fleet) -> None:
    """Wait until no node and no worker is left. A scheduler on a busy machine can see a worker later than its node's end."""

    def state() -> tuple[int, int]:
        return _fake_nodes(made), made.worker_count()

    wait_for(lambda: state() == (0, 0), PATIENCE_SECONDS, lambda: f"{state()} nodes and workers stayed")


def _grown(made: Fleet, turn: int) -> list[str]:
    """Keep the queue long until the cluster has grown; return the jobs."""
    template = imported(made.farm, (ROOT / "examples" / "title-card.motion").read_bytes())
    logo = uploaded(made.farm, ROOT / "examples" / "media" / "logo.png")
    jobs: list[str] = []

    def has_grown() -> bool:
        if len(jobs) < JOBS_MAX:
            key = f"growing-{turn}-{len(jobs):03}"
            jobs.append(made.farm.render(template, key, logo=logo, headline=key))
        return made.worker_count() == WORKERS_MAX

    wait_for(has_grown, PATIENCE_SECONDS, lambda: f"{made.worker_count()} workers")
    return jobs


def _growing_cluster() -> dict[str, Any]:
    """Return a cluster file for Ray's fake nodes: a head without resources, and up to WORKERS_MAX nodes with one core."""
    nodes = {"resources": {"CPU": 1}, "node_config": {}, "min_workers": 0, "max_workers": WORKERS_MAX}
    head = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
    return {
        "cluster_name": "fake", "max_workers": WORKERS_MAX, "idle_timeout_minutes": 0.1, "upscaling_speed": 4.0,
        "provider": {
            "type": "external", "module": "tests.acceptance.patient_nodes.PatientNodes", "use_node_id_as_ip": True, "disable_node_updaters": True, "disable_launch_config_check": True,
        }, "available_node_types": {"ray.head.default": head, "node": nodes},
        "head_node_type": "ray.head.default", "auth": {}, "file_mounts": {}, "cluster_synced_files": [],
        "initialization_commands": [], "setup_commands": [], "head_setup_commands": [], "worker_setup_commands": [],
        "head_start_ray_commands": [], "worker_start_ray_commands": [],
    }  # fmt: skip


def _cut_off(made: Fleet, feeder: Feeder) -> None:
    node = made.nodes["one"]
    node.unplug()
    back = time.monotonic() + CUT_SECONDS
    feeder.wait_for_more()
    wait_for(lambda: time.monotonic() > back, CUT_SECONDS + 1, str)
    node.plug()
    made.wait_for_workers("one", "two")
    feeder.wait_for_more()


def _add_and_remove(made: Fleet, feeder: Feeder) -> None:
    made.add("three")
    made.wait_for_workers("one", "two", "three")
    feeder.wait_for_more()
    made.nodes["two"].vanish()
    made.wait_for_workers("one", "three")
    feeder.wait_for_more()


def _restart_the_head(made: Fleet, feeder: Feeder) -> None:
    made.head.kill("render-farm-head")
    wait_for(lambda: not made.workers(), 120, lambda: "the workers of the former cluster are still seen")
    made.wait_for_workers("one", "three")
    feeder.wait_for_more()


def _take_stock(made: Fleet, feeder: Feeder, receiver: Hook) -> None:
    """Assert that every job completed and was counted once, every webhook came once, and the videos are right."""
    jobs = len(feeder.jobs)
    assert len(set(feeder.jobs)) == jobs
    assert Counter(feeder.ended.values()) == {"completed": jobs}
    wait_for(lambda: len(receiver.webhooks) >= jobs, 60, lambda: f"{len(receiver.webhooks)} webhooks of {jobs}")
    assert receiver.webhooks == Counter(feeder.ended.items())
    usage = made.farm.call("GET", "/usage")
    assert usage["reservedRenderMinutes"] == 0
    assert usage["renderedMinutes"] == pytest.approx(jobs * SECONDS / 60)
    assert usage["renderJobs"] == jobs
    for job in feeder.jobs:
        content = made.farm.client.get(made.farm.link(job)).content
        with av.open(io.BytesIO(content)) as video:
            assert sum(1 for _ in video.decode(video=0)) == SECONDS * FPS
    verified = run_farm("verify", feeder.jobs[-1], "--segments", "9", environment=_local(made))
    assert verified.stdout.count("the same bytes") == SECONDS, verified.stdout + verified.stderr
    assert deadlocks(made.stores.database_url) == 0


def _fake_nodes(made: Fleet) -> int:
    """Return the Ray nodes on the head's machine, without the head's own."""
    processes = psutil.Process(made.head.services["render-farm-head"].pid).children(recursive=True)
    return sum(process.name() == "raylet" for process in processes) - 1


def _local(made: Fleet) -> dict[str, str]:
    return {**made.environment, "DATA_FOLDER": str(made.farm.data)}
