"""A worker whose process is suspended, as on a machine that hangs."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from tests.acceptance.farm import ROOT, imported, process_farm, uploaded
from tests.patience import HANG_SECONDS

BUNDLE = ROOT / "examples" / "title-card.motion"
LOGO = ROOT / "examples" / "media" / "logo.png"
JOBS = 3


@pytest.mark.acceptance
def test_a_worker_that_stops_answering_is_replaced_and_jobs_end(tmp_path: Path) -> None:
    with process_farm(tmp_path / "farm", "--workers", "1", settings={"FRAME_SECONDS_MAX": "20"}) as farm:
        template, logo = imported(farm, BUNDLE.read_bytes()), uploaded(farm, LOGO)
        assert (
            farm.ended(farm.render(template, "before-it-stops", logo=logo, headline="Before"))["status"] == "completed"
        )
        (worker,) = (actor for actor in farm.processes("actor") if "RenderActor" in " ".join(actor.cmdline()))
        worker.send_signal(signal.SIGSTOP)
        _, left = psutil.wait_procs([worker], timeout=HANG_SECONDS)
        assert left == [], "the stopped worker was kept"
        jobs = [
            farm.render(template, f"after-it-{number}", logo=logo, headline=f"After {number}") for number in range(JOBS)
        ]
        assert [farm.ended(job_id)["status"] for job_id in jobs] == ["completed"] * JOBS
