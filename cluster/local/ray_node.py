"""A Ray head node of one machine: `python -m cluster.local.ray_node --port P --folder F --cores N --store S`.

`ray start --head` also runs a dashboard, two agents, an autoscaler and a client proxy. A local farm uses none of them. They take
two thirds of the start time and 300 MB of memory, the agents 2 s of processor time and the rest 2 s.

Prints `ray is ready` when actors can be started. If Ray cannot start or one of its processes ends, prints one line
`ray failed: REASON` and ends with status 1.
"""

from __future__ import annotations

import cluster.quick_ray  # noqa: F401  # isort: skip
import argparse
import contextlib
import os
import re
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import psutil
import ray
from ray._private import services, utils
from ray._private.node import Node
from ray._private.parameter import RayParams
from ray._private.services import get_node_with_retry
from ray._private.utils import write_ray_address
from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port  # type: ignore[attr-defined]  # Ray has no types

from cluster.embedded.process import dying_with
from cluster.local.ray_head import free_port

ADDRESS: Final = "127.0.0.1"
POLL_SECONDS: Final = 0.5
REGISTER_SECONDS: Final = 100.0
REGISTER_LIMITS: Final = {
    "RAY_agent_register_timeout_ms": str(int(REGISTER_SECONDS * 1000)),
    "RAY_worker_register_timeout_seconds": str(int(REGISTER_SECONDS)),
}
"""Ray's limits for the node's agents (30 s) and for workers (60 s). Ray kills a slower worker, and starts it again."""
OBJECT_STORE_BYTES: Final = 80 * 1024 * 1024
"""Ray's minimum. Frames never pass through the object store."""
AGENT_PORTS: Final = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)
"""Ports of the node's agents, chosen here. If the agents chose them, the raylet would wait 15 s for them and then abort,
which is too short on a busy machine or with a slow disk."""
WORKER: Final = Path(__file__).parents[1] / "worker" / "process.py"
_CLEAN_STATUSES: Final = (0, -signal.SIGTERM, 128 + signal.SIGTERM)
"""Exit statuses of a process after SIGTERM. A raylet that has lost an agent also exits with one of them."""
_REASON: Final = re.compile(r"(?i)\b(error|exception|failed|failure|cannot|unable|denied|no space)\b")
_LOG_PREFIX: Final = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[^\]]*\]?\s*(\([^)]*\))?\s*\S+\.(cc|h|py):\d+:?\s*|^\[[^\]]*\]\s*\S+:\d+:\s*"
)


class PatientNode(Node):  # type: ignore[misc]  # Ray has no types
    """A node whose agents' ports are chosen before it starts, unless the parameters have them. It and its workers have the farm's own
    time to register."""

    def __init__(self, parameters: RayParams, *words: object, **options: object) -> None:
        parameters.env_vars = REGISTER_LIMITS | (parameters.env_vars or {})
        for name, port in agent_ports().items():
            if not getattr(parameters, name):
                setattr(parameters, name, port)
        super().__init__(parameters, *words, **options)

    def start_ray_processes(self) -> None:
        """Start the raylet and wait until it is registered."""
        super().start_ray_processes()
        wait_until_registered(self)

    def start_raylet(self, *words: object, **options: object) -> None:
        """Start the raylet with the chosen ports."""
        announce_listen_port(self)
        super().start_raylet(*words, **options)


class HeadNode(PatientNode):
    """A node without a dashboard and its agents. It ends the program as soon as one of its processes ends."""

    def __init__(self, parameters: RayParams, folder: Path) -> None:
        self._folder = folder
        super().__init__(parameters, head=True, shutdown_at_exit=False, spawn_reaper=True)

    def start_api_server(self, *, include_dashboard: bool | None, raise_on_failure: bool) -> None:
        """Start no dashboard: the farm's console shows the workers."""

    def start_raylet(self, *words: object, **options: object) -> None:
        """Start the raylet with idle agents: the real ones serve the dashboard and runtime environments."""
        start = services.start_ray_process
        services.start_ray_process = lambda command, *rest, **others: start(_local(command), *rest, **others)
        utils.get_dashboard_dependency_error = lambda: None  # it would import the dashboard's libraries
        super().start_raylet(*words, **options)

    def start_gcs_server(self) -> None:
        """Start the first process and a thread that watches all processes. Ray itself notices a dead one after 30 s or more."""
        super().start_gcs_server()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            for name, processes in list(self.all_processes.items()):
                status = processes[0].process.poll()
                if status in _CLEAN_STATUSES:
                    time.sleep(POLL_SECONDS)  # a SIGTERM to the whole group also ends this process, with status 0
                if status is not None:
                    _fail(f"{name} ended with status {status}", self._folder)
            time.sleep(POLL_SECONDS)


def _local(raylet: Sequence[str]) -> list[str]:
    """Return the raylet's command for a local farm: with idle agents, and one worker process that starts before it is needed."""
    # The raylet needs two agents, and ends if one of them ends.
    agent = shlex.join([*dying_with("KILL"), "sh", "-c", "exec sleep infinity"])
    changed = {
        "--dashboard_agent_command": agent, "--runtime_env_agent_command": agent, "--num_prestart_python_workers": "1",
    }  # fmt: skip
    names = [word.partition("=")[0] for word in raylet]
    return [f"{name}={changed[name]}" if name in changed else word for name, word in zip(names, raylet, strict=True)]


def begin_worker(node: Node) -> None:
    """Have the node start its first worker process now. Ray does so when the first driver joins, and the scheduler joins late."""
    ray.init(address=node.gcs_address, log_to_driver=False, configure_logging=False, logging_level="ERROR")
    ray.shutdown()


def agent_ports() -> dict[str, int]:
    """Return new parameters of a node: free ports for its agents."""
    return {name: free_port() for name in AGENT_PORTS}


def announce_listen_port(node: Node) -> None:
    """Record the one agent port that Ray does not pass to the raylet."""
    port = node.dashboard_agent_listen_port
    persist_port(node.get_session_dir_path(), node.node_id, DASHBOARD_AGENT_LISTEN_PORT_NAME, port)


def wait_until_registered(node: Node) -> None:
    """Wait until the control store knows the node. Ray itself waits for 30 s, which is too short on a busy machine."""
    get_node_with_retry(node.gcs_address, node.node_id, REGISTER_SECONDS, retry_interval_s=0.1)


def main(words: list[str]) -> None:
    """Run the node until SIGTERM. Ends the process with status 1 if it cannot start or loses a process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="folder of Ray's sockets and logs")
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--store", type=Path, required=True, help="folder of Ray's shared memory")
    arguments = parser.parse_args(words)
    try:
        _check_port(arguments.port)
        node = HeadNode(_parameters(arguments), arguments.folder)
        write_ray_address(node.gcs_address, str(arguments.folder))
    except Exception as error:  # Ray raises errors of any type
        _fail(str(error) or type(error).__name__, arguments.folder)
    with contextlib.suppress(Exception):  # the scheduler's join has the same effect later
        begin_worker(node)
    _listen_to_signals()  # a driver replaces the handlers
    print("ray is ready", flush=True)  # noqa: T201 - the log of this process
    while True:
        signal.pause()


def _check_port(port: int) -> None:
    """Raise OSError if another program listens on the port. Ray would wait instead."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            raise OSError(f"port {port} of {ADDRESS}: {error.strerror}") from error


def _parameters(arguments: argparse.Namespace) -> RayParams:
    return RayParams(
        gcs_server_port=arguments.port,
        node_ip_address=ADDRESS,
        num_cpus=arguments.cores,
        object_store_memory=OBJECT_STORE_BYTES,
        plasma_directory=str(arguments.store),
        temp_dir=str(arguments.folder),
        worker_path=str(WORKER),
        min_worker_port=0,
        max_worker_port=0,
        include_dashboard=False,
        include_log_monitor=False,
        no_monitor=True,
        ray_client_server_port=None,
        dashboard_host=ADDRESS,
        **agent_ports(),
    )


def _fail(what: str, folder: Path) -> NoReturn:
    """Print the reason in one line. End this process and its children."""
    lines = [line.strip().rstrip(":.") for line in what.splitlines() if line.strip()]
    logged = _logged(folder)
    reason = ": ".join(dict.fromkeys(part for part in (lines[0] if lines else "", logged) if part))
    print(f"ray failed: {reason}", flush=True)  # noqa: T201 - the log of this process
    _end_all(1)


def _logged(folder: Path) -> str:
    """Return the newest error line of Ray's own logs without time and location, or an empty string."""
    logs = [*folder.glob("session_latest/logs/*.out"), *folder.glob("session_latest/logs/*.err")]
    logs = [log for log in logs if log.name.startswith(("gcs_server", "raylet"))]
    for log in sorted(logs, key=lambda path: path.stat().st_mtime, reverse=True):
        for line in reversed(log.read_text(errors="replace").splitlines()):
            if _REASON.search(line):
                return _LOG_PREFIX.sub("", line).strip()
    return ""


def _end_all(status: int) -> NoReturn:
    """Kill all processes at once. Ray stores nothing that must be saved."""
    own = os.getpid()
    started = {child.pid for child in psutil.Process().children(recursive=True)}
    # Agents and workers of a dead raylet are no longer descendants.
    started |= {pid for pid in psutil.pids() if _session(pid) == own}
    for pid in started - {own}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(status)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _listen_to_signals() -> None:
    signal.signal(signal.SIGTERM, lambda *_: _end_all(0))


if __name__ == "__main__":
    _listen_to_signals()
    main(sys.argv[1:])
