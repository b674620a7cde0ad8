"""Upgrade a farm with jobs in flight: the previous release works on the new schema, and the new release takes over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.scaling import scene
from examples.documents import bundle
from farm_core import running
from farm_core.db import schema
from tests.acceptance.farm import ROOT, ProcessFarm, imported, process_farm, uploaded
from tests.acceptance.hooks import hook
from tests.patience import HANG_SECONDS

FORMER = "faad2e752f8f"
"""Commit of the previous release. Change it at each release."""

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a checkout of the previous release, with this one's environment and fonts."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{FORMER}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    if known.returncode:
        pytest.skip("the history has no former release: a shallow clone, or not a clone")
    tree = tmp_path_factory.mktemp("former")
    archive = tree / "tree.tar"
    subprocess.run(["git", "archive", "-o", str(archive), FORMER], cwd=ROOT, check=True)
    # Python 3.11.2, that of Debian 12, has no filters for tarfile, and Python 3.12 warns without one.
    subprocess.run(["tar", "-xf", str(archive), "-C", str(tree)], check=True)
    (tree / ".fonts").symlink_to(ROOT / ".fonts")
    farm = tree / "cluster" / "local" / "farm.py"  # on a busy machine its start takes longer than it allowed
    farm.write_text(farm.read_text().replace("READY_SECONDS: Final = 120.0", f"READY_SECONDS: Final = {HANG_SECONDS}"))
    yield tree


def test_jobs_in_flight_survive_an_upgrade_and_the_former_release_works_on_the_new_schema(
    former: Path, tmp_path: Path
) -> None:
    data = tmp_path / "farm"
    with hook() as receiver:
        with process_farm(data, "--workers", "2", tree=former) as old:
            logo = uploaded(old, ROOT / "examples" / "media" / "logo.png")
            template = imported(old, bundle(scene(8)))
            jobs = [
                old.render(template, f"before-{n:04}", receiver.url, logo=logo, caption=f"Before {n}") for n in range(4)
            ]
            assert migrated(data) == schema.newest()
            for part in ("api", "scheduler"):
                assert old.kill(part)  # start a process of the previous release on the new schema
            jobs += [
                old.render(template, f"during-{n:04}", receiver.url, logo=logo, caption=f"During {n}") for n in range(4)
            ]
            assert [old.ended(job_id)["status"] for job_id in jobs[:5]] == ["completed"] * 5
            videos = {job_id: old.digest(job_id) for job_id in jobs[:5]}
            in_flight = [
                old.render(template, f"last-{n:04}", receiver.url, logo=logo, caption=f"Last {n}") for n in range(8)
            ]
        with process_farm(data, "--workers", "2") as new:
            everything = jobs + in_flight
            assert {new.ended(job_id)["status"] for job_id in everything} == {"completed"}
            assert new.call("GET", "/usage")["reservedRenderMinutes"] == 0
            assert new.call("GET", "/usage")["renderJobs"] == len(everything)
            assert {job_id: new.digest(job_id) for job_id in videos} == videos
            again = new.render(template, "again-0000", logo=logo, caption="Again")
            assert new.ended(again)["status"] == "completed"
            assert logs_have_no_sql_errors(new)
        assert {job for job, _ in receiver.webhooks} == set(everything)
        assert set(receiver.webhooks.values()) == {1}


def migrated(data: Path) -> str | None:
    """Run this release's migrations on a running farm's database; return the schema's revision."""
    found = running.read(data)
    assert found is not None
    environment = os.environ | {"DATABASE_URL": found.database_url}
    subprocess.run([sys.executable, "-m", "farm_core.db.migrate", "upgrade"], cwd=ROOT, env=environment, check=True)
    return schema.version(found.database_url)


def logs_have_no_sql_errors(farm: ProcessFarm) -> bool:
    return not any("UndefinedColumn" in log.read_text() for log in (farm.data / "logs").glob("*.log"))
