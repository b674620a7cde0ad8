"""Local Ray node: if it cannot start, or loses a process, it says why in one line."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster.local.ray_head import free_port, ray_head
from farm_core.settings import ROOT
from tests.patience import HANG_SECONDS


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Ray's sockets need."""
    path = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def _node(folder: Path, port: int, store: Path = Path("/dev/shm")) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "cluster.local.ray_node"]
    return _begun(folder, *program, f"--port={port}", f"--folder={folder}", "--cores=1", f"--store={store}")


def _begun(folder: Path, *command: str | Path) -> subprocess.Popen[str]:
    token = folder / "token"
    token.write_text(secrets.token_hex(32))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _output(node: subprocess.Popen[str]) -> str:
    """Return the output of a node that exits with status 1."""
    out, _ = node.communicate(timeout=HANG_SECONDS)
    assert node.returncode == 1
    return out


def test_a_port_that_is_taken_is_named(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert _output(_node(folder, port)) == f"ray failed: port {port} of 127.0.0.1: Address already in use\n"


def test_a_port_that_was_found_free_is_kept_for_whoever_names_it() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))  # without SO_REUSEADDR: what the kernel asks before it chooses a port
    with socket.create_server(("127.0.0.1", port)) as server:
        assert server.getsockname()[1] == port


def test_a_path_that_is_too_long_for_sockets_is_named(folder: Path) -> None:
    deep = folder / ("d" * 90)
    deep.mkdir()
    output = _output(_node(deep, free_port())).splitlines()
    assert len(output) == 1
    assert "AF_UNIX path length cannot exceed 107 bytes" in output[0]


def test_a_store_that_is_missing_is_named(folder: Path) -> None:
    output = _output(_node(folder, free_port(), folder / "none"))
    assert output == f"ray failed: The plasma directory file {folder / 'none'} does not exist or is not a directory\n"


@pytest.mark.parametrize(
    ("killed", "named"),
    [
        ("gcs_server", "ray failed: gcs_server ended with status -9"),
        ("raylet/raylet", "ray failed: raylet ended with status -9"),
        ("sleep infinity", "ray failed: raylet ended with status "),  # without its agent, the node exits
    ],
)
def test_a_process_that_ends_is_named_and_nothing_stays_behind(folder: Path, killed: str, named: str) -> None:
    node = _node(folder, free_port(), folder)
    assert node.stdout is not None
    assert node.stdout.readline() == "ray is ready\n"
    children = _children(node, killed)
    next(child for child in children if _runs(child, killed)).kill()
    assert _output(node).startswith(named)
    assert not psutil.wait_procs(children, timeout=HANG_SECONDS)[1]


def test_the_whole_node_ends_at_once_when_its_supervisor_is_killed(folder: Path) -> None:
    supervisor, children = _supervised(folder)
    supervisor.kill()
    supervisor.wait()
    assert [child.name() for child in psutil.wait_procs(children, timeout=HANG_SECONDS)[1]] == []


def test_a_nodes_processes_do_not_know_the_database_and_the_key_of_session_tokens(folder: Path) -> None:
    secret = {"DATABASE_URL": "postgresql://db.example.com/farm", "JWT_SECRET": secrets.token_hex(32)}
    supervisor, children = _supervised(folder, **secret)
    try:
        known = [child.environ() for child in children]
    finally:
        supervisor.kill()
        psutil.wait_procs([supervisor, *children], timeout=HANG_SECONDS)
    assert len(known) > 1
    assert not [words for words in known if set(secret.values()) & set(words.values())]


def _supervised(folder: Path, **settings: str) -> tuple[psutil.Popen, list[psutil.Process]]:
    """Start a node as `./farm up` does. Return its supervisor, and its processes when it is ready."""
    log = folder / "ray.log"
    begin = (
        "import signal, sys; from pathlib import Path; from cluster.local.ray_head import ray_head;"
        " ray_head(Path(sys.argv[1]), {'PYTHONPATH': sys.argv[3]}, 1, Path(sys.argv[2])).part.start(); signal.pause()"
    )
    supervisor = psutil.Popen(
        [sys.executable, "-c", begin, str(folder), str(log), str(ROOT)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), **settings},
    )
    deadline = time.monotonic() + HANG_SECONDS
    while not log.exists() or "ray is ready" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return supervisor, supervisor.children(recursive=True)


def test_a_local_node_runs_no_agents_and_begins_one_worker_before_a_driver_joins(folder: Path) -> None:
    node = _node(folder, free_port(), folder)
    assert node.stdout is not None
    try:
        assert node.stdout.readline() == "ray is ready\n"
        programs = [" ".join(child.cmdline()) for child in _children(node, "ray::IDLE")]
        assert sum("ray::IDLE" in program for program in programs) == 1
        assert not [program for program in programs if "Agent" in program]
    finally:
        node.terminate()
        node.communicate(timeout=HANG_SECONDS)


def test_a_clusters_node_does_not_wait_for_agents_that_start_slowly(folder: Path) -> None:
    words = ["start", "--head", "--block", f"--port={free_port()}", "--num-cpus=0", "--include-dashboard=false"]
    node = _begun(folder, _ray_of_the_image(folder), *words, "--object-store-memory=100000000", f"--temp-dir={folder}")
    agents = []
    try:
        for program in ("dashboard/agent.py", "runtime_env/agent/main.py"):
            agents.append(_agent(node, program))
            agents[-1].suspend()
        limits = agents[-1].environ()
        assert limits["RAY_agent_register_timeout_ms"] == "100000"
        assert limits["RAY_worker_register_timeout_seconds"] == "100"
        assert node.stdout is not None
        assert any("Ray runtime started" in line for line in node.stdout)
    finally:
        # Agents of a raylet that has ended are no longer descendants.
        for process in {*agents, *psutil.Process(node.pid).children(recursive=True)}:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        node.kill()
        node.communicate(timeout=HANG_SECONDS)


def _ray_of_the_image(folder: Path) -> Path:
    """Write the image's program `ray`, for this interpreter."""
    program = folder / ".venv" / "bin" / "ray"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    lines = (ROOT / "cluster" / "docker" / "Dockerfile").read_text().splitlines()
    (step,) = [line.removeprefix("RUN ") for line in lines if line.endswith("> .venv/bin/ray")]
    subprocess.run(["sh", "-c", step.replace("/farm/.venv/bin/python", sys.executable)], cwd=folder, check=True)
    return program


def _agent(node: subprocess.Popen[str], program: str) -> psutil.Process:
    """Return the process of a Ray agent once it runs. The raylet's command line contains the program's name too."""
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        for child in psutil.Process(node.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                words = child.cmdline()
                if words and "raylet/raylet" not in words[0] and any(word.endswith(program) for word in words):
                    return child
        time.sleep(0.01)
    raise AssertionError(f"there is no {program}")


def _children(node: subprocess.Popen[str], awaited: str) -> list[psutil.Process]:
    """Return the node's processes, once one has the expected command line."""
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        children = psutil.Process(node.pid).children(recursive=True)
        if any(_runs(child, awaited) for child in children):
            return children
        time.sleep(0.1)
    raise AssertionError(f"there is no {awaited}")


def _runs(process: psutil.Process, program: str) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):  # Ray has helpers that end soon
        return program in " ".join(process.cmdline())
    return False


def test_a_token_that_a_killed_start_left_empty_is_made_again(folder: Path) -> None:
    token = folder / "ray-token"
    token.touch()
    ray_head(folder, {}, 1, folder / "ray.log")
    assert len(token.read_text()) == 64


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_program_that_reads_rays_logs_is_left_alone(folder: Path) -> None:
    head = ray_head(folder, {}, 1, folder / "ray.log")
    with subprocess.Popen(["tail", "-F", head.logs / "raylet.out"], stderr=subprocess.DEVNULL) as reader:
        try:
            os.setresuid(65534, 65534, 0)
            head.part.sweep()
            assert reader.poll() is None
        finally:
            os.setresuid(0, 0, 0)
            reader.kill()
