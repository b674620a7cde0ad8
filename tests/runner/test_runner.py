"""The suite's own test runner on small projects: order, selection, live count, recorded durations."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from farm_core.cli import test as every_part
from tests.runner import durations
from tests.runner.progress import CLEAR, Progress

pytestmark = pytest.mark.thorough  # each test starts pytest
ROOT = Path(__file__).resolve().parents[2]
PROJECT = {
    "pytest.ini": "[pytest]\nmarkers = service\n  gl\n  alone\n  acceptance\n  chaos\n  thorough\n  slow\n",
    "test_a_farm.py": "import pytest\n\n@pytest.mark.acceptance\ndef test_farm(): pass\n",
    "test_b_long.py": "def test_long(): pass\n",
    "test_c_server.py": (
        "import pytest\n\n@pytest.fixture\ndef postgres_server(): pass\n\n"
        "@pytest.fixture\ndef url(postgres_server): pass\n\ndef test_server(url): pass\n"
    ),
    "test_d_short.py": "import pytest\n\ndef test_short(): pass\n\n@pytest.mark.thorough\ndef test_thorough(): pass\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)
    durations.record({"test_b_long.py::test_long": 60.0, "test_d_short.py::test_short": 0.1}, tmp_path)
    return tmp_path


def test_short_files_run_first_and_expensive_stages_last(project: Path) -> None:
    files = [line.split()[-3] for line in run(project) if line.startswith("[")]
    assert files == ["test_d_short.py", "test_b_long.py", "test_c_server.py", "test_a_farm.py"]


def test_fast_leaves_out_servers_and_thorough_tests(project: Path) -> None:
    lines = run(project, "--fast")
    assert [line.split()[-3] for line in lines if line.startswith("[")] == ["test_d_short.py", "test_b_long.py"]
    assert any("2 passed, 3 deselected" in line for line in lines)


def test_the_three_parts_are_all_tests(project: Path) -> None:
    without, lanes, alone = (
        {line.split()[-3] for line in run(project, "--servers", part) if line.startswith("[")}
        for part in ("without", "lanes", "alone")
    )
    assert without == {"test_b_long.py", "test_d_short.py"}
    assert lanes == {"test_c_server.py"}
    assert alone == {"test_a_farm.py"}


def test_a_part_collects_only_folders_that_have_its_tests_and_loses_none(project: Path) -> None:
    for folder in ("api", "motion"):
        (project / "tests" / folder).mkdir(parents=True)
        (project / "tests" / folder / f"test_{folder}.py").write_text(PROJECT["test_c_server.py"])
    without, lanes = (run(project, "tests", "--servers", part) for part in ("without", "lanes"))
    assert any("1 passed, 1 deselected" in line for line in without), "the one of motion"
    assert any("1 passed" in line and "deselected" not in line for line in lanes), "motion is not even collected"


def test_lanes_count_all_tests_and_begin_with_the_longest_file(project: Path) -> None:
    server = PROJECT["test_c_server.py"]
    (project / "test_e_server.py").write_text(server + "\ndef test_other(url): pass\n")
    durations.record({"test_c_server.py::test_server": 1.0, "test_e_server.py::test_server": 9.0}, project)
    lines = run(project, "--servers", "lanes")
    assert [line.split()[-3] for line in lines if line.startswith("[")] == ["test_e_server.py", "test_c_server.py"]
    lines = run(project, "--servers", "lanes", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    assert any(line.startswith("[3/3]") for line in lines)
    assert any("3 passed" in line for line in lines)


def test_lanes_of_a_new_checkout_begin_with_the_file_of_thorough_tests(project: Path) -> None:
    (project / durations.FILE).unlink()
    server = PROJECT["test_c_server.py"]
    (project / "test_e_server.py").write_text(
        server.replace("def test_server", "@pytest.mark.thorough\ndef test_server")
    )
    (project / "test_f_server.py").write_text(server + "\ndef test_other(url): pass\n")
    files = [line.split()[-3] for line in run(project, "--servers", "lanes") if line.startswith("[")]
    assert files == ["test_e_server.py", "test_f_server.py", "test_c_server.py"]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "two processes"])
def test_durations_are_recorded_and_others_kept(project: Path, workers: list[str]) -> None:
    run(project, *workers, "-k", "long")
    found = json.loads((project / durations.FILE).read_text())
    assert found["test_b_long.py::test_long"] < 60
    assert found["test_d_short.py::test_short"] == 0.1


def test_a_damaged_record_is_ignored(project: Path) -> None:
    (project / durations.FILE).write_text("{")
    assert durations.recorded(project) == {}
    assert any("5 passed" in line for line in run(project))


def test_a_failure_is_shown_at_once_and_explained_at_the_end(project: Path) -> None:
    (project / "test_d_short.py").write_text("def test_short():\n    assert 1 == 2\n")
    lines = run(project, status=1)
    assert lines[0] == "FAILED test_d_short.py::test_short"
    assert "1 failed" in lines[1]
    assert any("assert 1 == 2" in line for line in lines[2:])


def test_a_terminal_shows_one_line_with_the_time_left() -> None:
    out, clock = StringIO(), iter([0.0, 0.0, 10.0, 15.0])
    progress = Progress(out, {"a.py::one": 20.0, "a.py::two": 10.0}, width=60, clock=lambda: next(clock))
    progress.collected(["a.py::one", "a.py::two"])
    for name in ("a.py::one", "a.py::two"):
        progress.reported(name, 1.0, failed=False)
        progress.finished(name)
    assert out.getvalue().split(CLEAR)[1:] == ["[1/2]  0:10  about 0:05 left  a.py", "[2/2]  0:15  a.py"]


def test_the_count_is_shown_while_tests_are_collected_and_while_no_file_ends() -> None:
    out, clock = StringIO(), iter([0.0, 10.0, 15.0, 27.0])
    progress = Progress(out, {}, width=None, clock=lambda: next(clock))
    progress.still()
    progress.collected(["a.py::one", "a.py::two"])
    progress.finished("a.py::one")
    progress.still()
    assert out.getvalue() == "collecting tests  0:10\n[1/2]  0:12\n"


def test_tests_run_without_the_settings_colours_and_proxies_of_the_caller(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "FORCE_COLOR", "no_proxy"):
        monkeypatch.setenv(name, "farm.example.com")
    (project / ".env").write_text("WORKERS=7\n")
    (project / "test_environment.py").write_text(
        "import os\nfrom farm_core.settings import settings\n\ndef test_environment():\n    assert settings().workers is None\n    assert not {'DATABASE_URL', 'FORCE_COLOR'} & set(os.environ)\n"
        "    assert os.environ['no_proxy'] == 'farm.example.com,127.0.0.1,localhost'\n"
    )
    run(project, "test_environment.py")


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["one process", "a worker"])
def test_processes_of_tests_take_the_signals_that_nohup_and_background_jobs_ignore(
    project: Path, workers: list[str]
) -> None:
    (project / "test_signals.py").write_text(
        "import subprocess\n\ndef test_signals():\n    for number in (1, 2):\n"
        "        assert subprocess.run(['sh', '-c', f'kill -{number} $$']).returncode == -number\n"
    )
    former = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGINT)}
    try:
        run(project, *workers, "test_signals.py")
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(
    ("farms", "others", "status"),
    [
        ("pass", "pass", 0),
        ("raise SystemExit(1)", "pass", 1),
        ("pass", "raise SystemExit(1)", 1),
        ("import os; os.kill(os.getpid(), 9)", "pass", -9),
        ("import time; time.sleep(600)", "raise SystemExit(4)", 4),
    ],
    ids=["all pass", "farms fail", "others fail", "farms are killed", "others cannot run"],
)
def test_a_part_that_fails_fails_the_whole_run(
    farms: str, others: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-c", farms if "alone" in arguments else others]

    monkeypatch.setattr(every_part, "_pytest", command)
    assert every_part._every_test() == status


def test_farms_run_beside_the_other_parts_and_their_output_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def command(*arguments: str) -> list[str]:
        """Return a part. Farms wait for the lanes to begin, and lanes for the farms to end."""
        (name,) = {"alone", "lanes", "without"}.intersection(arguments)
        awaited = {"alone": "begin-lanes", "lanes": "end-alone", "without": "begin-alone"}[name]
        wait = f"until test -e {tmp_path}/{awaited}; do sleep 0.1; done"
        return ["sh", "-c", f"echo begin of {name}; touch {tmp_path}/begin-{name}; {wait}; touch {tmp_path}/end-{name}"]

    monkeypatch.setattr(every_part, "_pytest", command)
    assert every_part._every_test() == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("begin")]
    assert lines == ["begin of without", "begin of lanes", "begin of alone"]


def test_a_letter_that_is_half_written_when_the_output_is_read_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def command(*arguments: str) -> list[str]:
        halves = "printf '\\303'; sleep 2; printf '\\251 end'"
        return ["sh", "-c", halves if "alone" in arguments else "true"]

    monkeypatch.setattr(every_part, "_pytest", command)
    assert every_part._every_test() == 0
    assert capfd.readouterr().out.endswith(" end")


def run(project: Path, *arguments: str, status: int = 0) -> list[str]:
    """Run pytest on the project; return its output lines."""
    plugins = ["-p", "tests.runner.plugin", *(["-p", "xdist"] if "-n" in arguments else [])]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "--rootdir", str(project), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line]
