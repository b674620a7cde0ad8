"""Findings of `./farm doctor` on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from cluster.diagnosis.machine import machine_findings, workers_findings
from cluster.diagnosis.stores import store_findings
from farm_core.clock import SystemClock
from farm_core.settings import Settings
from gpu_renderer.encode.profile import chosen, encoder_fault

pytestmark = pytest.mark.gl
ROOT = Path(__file__).resolve().parents[2]


def test_the_doctor_says_which_way_frames_take_to_the_encoder_and_why() -> None:
    facts = {finding.subject: finding.fact for finding in machine_findings(Settings())}
    assert facts["handover"].startswith("frames ")
    if encoder_fault("h264_nvenc") is not None:
        assert facts["handover"].endswith(f"the encoder is not the GPU's ({chosen(None).codec})")


def test_the_doctor_says_that_the_farm_may_have_too_few_threads() -> None:
    ordinary = ["unshare", "--user"] if os.geteuid() == 0 else []
    program = (
        "from cluster.diagnosis.machine import machine_findings; from farm_core.settings import Settings; "
        "found = next(machine_findings(Settings())); print(found.grade, found.remedy)"
    )
    command = [*ordinary, "prlimit", "--nproc=100", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(f"user namespaces cannot be made here: {done.stderr}")
    assert done.stdout.startswith("bad 100 processes and threads are too few: the farm needs 260"), done.stderr


def test_the_doctor_says_that_a_process_can_open_few_files() -> None:
    program = (
        "from cluster.diagnosis.machine import machine_findings; from farm_core.settings import Settings; "
        "found = machine_findings(Settings()); next(found); one = next(found); print(one.grade, one.fact, one.remedy)"
    )
    command = ["prlimit", "--nofile=256", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("poor a process can open 256 files"), done.stderr
    assert "ulimit -Hn" in done.stdout


def test_the_doctor_finds_that_what_is_drawn_comes_back_in_its_colours() -> None:
    findings = {finding.subject: finding for finding in machine_findings(Settings())}
    assert findings["colours"].grade == "good"


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ({}, ["samples good", "drawing poor"]),
        ({"GALLIUM_DRIVER": "softpipe"}, ["samples poor the driver lacks 4 samples a pixel"]),
        (
            {"MESA_EXTENSION_OVERRIDE": "-GL_ARB_sample_shading", "MESA_GL_VERSION_OVERRIDE": "3.3"},
            ["samples poor the driver lacks GL_ARB_sample_shading"],
        ),
        (
            {"MESA_GL_VERSION_OVERRIDE": "3.0"},
            ["drawing bad no OpenGL 3.3 context through EGL", "Update the driver of the device"],
        ),
        (
            {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"},
            ["drawing bad no OpenGL 3.3 context through EGL", "Install Mesa's software driver"],
        ),
    ],
)
def test_the_doctor_names_what_the_driver_lacks(driver: dict[str, str], expected: list[str]) -> None:
    program = (
        "from cluster.diagnosis.machine import machine_findings; from farm_core.settings import Settings\n"
        "for found in machine_findings(Settings()): print(found.subject, found.grade, found.fact, found.remedy)"
    )
    settings = {"LIBGL_ALWAYS_SOFTWARE": "1", "GL_SOFTWARE": "true", **driver}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(words in done.stdout for words in expected), done.stdout


def test_the_doctor_says_what_finishes_the_frames_that_the_processor_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = {finding.subject: finding for finding in machine_findings(Settings(gl_software=True))}
    assert findings["finishing"].grade == "good"
    monkeypatch.setitem(sys.modules, "render_kernels", None)
    findings = {finding.subject: finding for finding in machine_findings(Settings(gl_software=True))}
    assert findings["finishing"].grade == "poor"
    assert "not installed" in findings["finishing"].fact
    assert "native" in findings["finishing"].remedy


def test_the_way_to_the_encoder_can_be_switched_off() -> None:
    settings = Settings(encode_from_gpu=False)
    facts = {finding.subject: finding.fact for finding in machine_findings(settings)}
    assert "encode_from_gpu is off" in facts["handover"]


def test_the_doctor_says_how_many_workers_of_a_gpu_the_processor_can_encode_for() -> None:
    (found,) = workers_findings(1, 16, Settings())
    assert "WORKERS_PER_GPU=8" in found.remedy
    (found,) = workers_findings(4, 64, Settings(workers_per_gpu=2))
    assert "WORKERS_PER_GPU=8" in found.remedy
    for gpus, cores, settings in (
        (0, 16, Settings()), (1, 2, Settings()), (1, 16, Settings(workers_per_gpu=8)), (1, 16, Settings(workers=3)),
    ):  # fmt: skip
        assert not list(workers_findings(gpus, cores, settings))


def test_the_doctor_asks_for_no_setting_to_be_unset_that_is_not_set(tmp_path: Path) -> None:
    """A disk of 4 MB is too small for a database."""
    program = (
        "from cluster.diagnosis.stores import store_findings; from farm_core.settings import Settings; "
        "found = next(store_findings(Settings(database_url=None))); print(found.grade, found.remedy)"
    )
    printed = _output_on_small_disk(program, tmp_path)
    assert printed.startswith("bad The embedded server does not start."), printed
    assert "DATABASE_URL" in printed


def test_the_doctor_names_the_full_disk_of_temporary_files(tmp_path: Path) -> None:
    """Python takes another folder than TMPDIR if it can write nothing there."""
    program = (
        "import os, shutil; from cluster.diagnosis.stores import store_findings; from farm_core.settings import Settings; "
        "folder = os.environ['TMPDIR']; open(folder + '/full', 'wb').write(bytes(shutil.disk_usage(folder).free)); "
        "away = dict(data_folder=folder, database_url='postgresql://127.0.0.1:1/x', redis_url='redis://127.0.0.1:1', ray_address='127.0.0.1:1'); "
        "[print(one.grade, one.fact, one.remedy) for one in store_findings(Settings(**away)) if one.subject == 'disk']"
    )
    printed = _output_on_small_disk(program, tmp_path)
    assert f"bad the disk of {tmp_path} has 0 MB free" in printed, printed
    assert "Free some space" in printed


def _output_on_small_disk(program: str, folder: Path) -> str:
    """Return the output of a Python program whose temporary files lie on a disk of 4 MB, mounted at the folder."""
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    mounted = 'mount -t tmpfs -o size=4m,mode=1777 none "$TMPDIR" && exec "$@"'
    command = [*namespace, "sh", "-c", mounted, "sh", sys.executable, "-c", program]
    environment = os.environ | {"TMPDIR": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"file systems cannot be mounted here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_doctor_says_what_waits_while_the_disk_has_only_its_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(total=10**11, free=9 * 10**8)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    settings = Settings(
        data_folder=tmp_path,
        database_url="postgresql://127.0.0.1:1/x",
        redis_url="redis://127.0.0.1:1",
        ray_address="127.0.0.1:1",
    )
    (found,) = (one for one in store_findings(settings) if one.subject == "disk")
    assert (found.grade, found.fact) == ("bad", f"0.9 GB free for {tmp_path}, less than the reserve of 1.0 GB")
    assert "if all accounts do, nothing is rendered" in found.remedy


@pytest.mark.service
@pytest.mark.parametrize(("hours", "fact"), [(1, "3600 s ahead of"), (-1, "3600 s behind"), (0, None)])
def test_the_doctor_names_a_clock_that_differs_from_that_of_postgres(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int, fact: str | None
) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _: datetime.now(UTC) + timedelta(hours=hours))
    chosen = Settings(database_url=database_url, data_folder=tmp_path, ray_address="127.0.0.1:1")
    facts = [finding.fact for finding in store_findings(chosen) if finding.subject == "clock"]
    assert facts == ([f"this machine is {fact} Postgres"] if fact else [])


@pytest.mark.service
def test_the_doctor_names_a_postgres_that_takes_no_writes(database_url: str, tmp_path: Path) -> None:
    """It said that the farm could work while the disk of Postgres was full."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{connection.info.dbname}" SET default_transaction_read_only = on')
    settings = Settings(database_url=database_url, data_folder=tmp_path, ray_address="127.0.0.1:1")
    (found,) = (finding for finding in store_findings(settings) if finding.subject == "postgres")
    assert found.grade == "bad"
    assert "read-only transaction" in found.fact
