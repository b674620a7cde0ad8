"""The local farm: its parts, their addresses, and its readiness."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from cluster.embedded import disk, postgres, valkey
from cluster.embedded.process import ServerFailed
from cluster.local.addresses import check_free
from cluster.local.log_files import LogWatch
from cluster.local.machine import segment_bytes_max, this_machine, worker_count
from cluster.local.parts import Part, ProcessPart, ServerPart
from cluster.local.ray_head import ray_head
from cluster.local.servers import wait_for_servers
from cluster.local.supervisor import POLL_SECONDS, Supervisor
from cluster.local.worker_faults import WorkerFaults
from farm_core import running, scratch
from farm_core.db import schema, schema_update
from farm_core.interruption import deferred_signals
from farm_core.long_steps import SILENT_SECONDS, reporting
from farm_core.settings import ROOT, Settings
from farm_core.telemetry import logs
from farm_core.user_error import UserError

_log = logs.logger(__name__)

READY_SECONDS: Final = 300.0
"""Time limit for the start. On a busy machine, Ray and the workers take minutes; a part that dies ends the start earlier."""
INHERITED: Final = {"jwt_secret", "database_url", "redis_url", "data_folder"}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line."""

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int | None = None
    schedulers: int = 1
    api_workers: int = 1


class DataFolderBusy(UserError):
    """Another farm runs on the data folder."""


class LocalFarm:
    """The farm of `up`: start it, restart dead parts, stop it. Call all methods from one thread."""

    def __init__(self, settings: Settings, options: Options) -> None:
        """Prepare the parts without starting them. Raises TooLittleMemory, TooFewThreads, DiskFull, DataFolderBusy, ServerFailed."""
        host = f"[{options.host}]" if ":" in options.host else options.host
        self.origin = f"http://{host}:{options.port}"
        self._settings = settings
        self._options = options
        self._machine = this_machine()
        # The number of cores that Ray counts. Each gets a worker unless the machine has GPUs or the settings say otherwise.
        self._cores = 1 if settings.ray_address else worker_count(self._machine)
        self._data = settings.data_folder.resolve()
        self._check_disk()
        self._data.mkdir(parents=True, mode=0o700, exist_ok=True)
        (self._data / "logs").mkdir(exist_ok=True)
        self._lock = lock_folder(self._data)
        self._urls = self._store_urls()
        self._cluster = Supervisor(self._cluster_parts())
        self._stores = Supervisor(self._store_parts())
        self._services = Supervisor(self._service_parts())
        self._worker_faults = WorkerFaults(map(self._log, self._schedulers()))
        folders = {folder.stat().st_dev: folder for folder in (Path(tempfile.gettempdir()), self._data)}
        self._disks = [disk.DiskWatch(folder) for folder in folders.values()]
        self._logs = LogWatch(self._data / name for name in ("logs", "postgres", "valkey"))

    def start(self, ended: Callable[[], bool] = lambda: False) -> None:
        """Start every part without waiting until the farm is ready. Start nothing if `ended` returns True. Raises UserError."""
        check_free(self._options.host, self._options.port)
        wait_for_servers(self._settings, ended)
        if ended():
            return
        with reporting(lambda seconds: _log.info("still starts the stores", seconds=round(seconds))):
            self._cluster.start()  # first: it takes longest and depends on nothing
            self._services.start()  # they import code while the stores start, then wait for the tables
            self._stores.start()
            if (version := schema.version(self.database_url)) not in (None, schema.newest()):
                _log.info("brings the database up to date, which takes minutes with millions of jobs", schema=version)
            schema_update.ensure(self.database_url)
        running.write(self._data, self._running())

    def wait_ready(self, ended: Callable[[], bool] = lambda: False) -> bool:
        """Restart dead parts until the API is ready. Return False if `ended` returns True before that.

        Raises ServerFailed if it takes too long, or as soon as a part has died too often.
        """
        deadline = time.monotonic() + READY_SECONDS
        next_line = time.monotonic() + SILENT_SECONDS
        while not ended():
            self.poll()
            self._check_parts()
            failing = _failing_checks(self._options.host, self._options.port)
            if not failing:
                return True
            if "workers" in failing:
                self._check_workers()
            if time.monotonic() > next_line:
                next_line += SILENT_SECONDS
                _log.info("still starts", not_working=self._with_reason(failing))
            if time.monotonic() > deadline:
                late = f"the farm was not ready after {READY_SECONDS:.0f} s"
                raise ServerFailed(
                    f"{late} (not working: {self._with_reason(failing)}); ./farm doctor checks every part, and the logs are in "
                    f"{self._data / 'logs'}"
                )
            time.sleep(POLL_SECONDS)
        return False

    def poll(self) -> None:
        """Restart dead parts. Check the disks and the logs."""
        self._cluster.poll()
        self._stores.poll()
        self._services.poll()
        for watch in self._disks:
            watch.poll()
        self._logs.poll()

    def _check_disk(self) -> None:
        """Raise DiskFull before the slow start of Ray. Postgres repeats the check for other commands."""
        is_new = self._settings.database_url is None and not (self._data / "postgres" / "PG_VERSION").exists()
        disk.check_free(self._data, disk.NEW_BYTES if is_new else disk.KEPT_BYTES)

    def _check_parts(self) -> None:
        """Raise if Ray keeps failing. Other parts can die on a slow machine while they wait for Ray, so they are retried."""
        part = self._cluster.failing("ray")
        if part is not None:
            raise ServerFailed(
                f"{part.name} does not start: {part.reason or 'it says nothing'}; see {self._log(part.name)}"
            )

    def _check_workers(self) -> None:
        """Raise if this machine cannot draw. Workers that did not start for another reason are started again."""
        reason = "" if self._settings.ray_address is not None else self._worker_faults.cannot_draw()
        if reason:
            raise ServerFailed(f"no worker can draw on this machine: {reason}; ./farm doctor says what to install")

    def _with_reason(self, failing: str) -> str:
        """Add the reason to failing checks that include the workers, if a scheduler knows it."""
        reason = self._worker_faults.newest() if "workers" in failing else ""
        return f"{failing}: {reason}" if reason else failing

    def stop(self) -> None:
        """Drain and stop every part, dependent parts first."""
        with reporting(lambda seconds: _log.info("still stops", seconds=round(seconds))):
            self._services.stop()
            self._cluster.stop()
            (self._data / "logs" / "workers").unlink(missing_ok=True)  # the link's target, Ray's folder, is gone
            self._stores.stop()
        scratch.remove_left()  # killed workers leave scratch files with customers' data
        running.remove(self._data)
        os.close(self._lock)

    @property
    def database_url(self) -> str:
        """Return the URL of the farm's Postgres."""
        return self._settings.database_url or self._urls["DATABASE_URL"]

    def _store_parts(self) -> list[Part]:
        """Return the embedded stores that replace missing settings."""
        parts: list[Part] = []
        if self._settings.database_url is None:
            parts.append(ServerPart("postgres", lambda: postgres.start(self._data / "postgres", adopt=False)))
        if self._settings.redis_url is None:
            parts.append(ServerPart("valkey", lambda: valkey.start(self._data / "valkey")))
        return parts

    def _store_urls(self) -> dict[str, str]:
        """Return the URLs of the embedded stores. They are known before the stores run."""
        urls: dict[str, str] = {}
        if self._settings.database_url is None:
            urls["DATABASE_URL"] = postgres.url_of(self._data / "postgres")
        if self._settings.redis_url is None:
            urls["REDIS_URL"] = valkey.url_of(self._data / "valkey")
        return urls

    def _cluster_parts(self) -> list[Part]:
        """Return the embedded Ray cluster if the settings name none."""
        workers = self._options.workers or self._settings.workers
        self._environment = _chosen_settings(self._settings) | {"PYTHONPATH": str(ROOT), "DATA_FOLDER": str(self._data)}
        if workers is not None:
            self._environment["WORKERS"] = str(workers)
        self._environment.setdefault("METRICS_HOST", self._options.host)
        if self._settings.ray_address is not None:
            return []
        bytes_max = segment_bytes_max(self._machine, self._settings.segment_memory_bytes_max)
        self._environment["SEGMENT_MEMORY_BYTES_MAX"] = str(bytes_max)
        head = ray_head(self._data, self._environment, self._cores, self._log("ray"))
        self._environment |= head.environment | {"RAY_ADDRESS": head.address}
        self._link_worker_logs(head.logs)
        return [head.part]

    def _link_worker_logs(self, logs: Path) -> None:
        """Link Ray's folder of worker logs as `logs/workers`."""
        link = self._data / "logs" / "workers"
        link.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the file system has no links
            link.symlink_to(logs)

    def _service_parts(self) -> list[Part]:
        environment = self._environment | self._urls
        parts: list[Part] = []
        python = (sys.executable, "-P", "-m")
        for name, arguments in self._schedulers().items():
            command = (*python, "scheduler", "--wait-for-schema", *arguments)
            parts.append(ProcessPart(name, command, environment, self._log(name)))
        return [*parts, *self._api_parts(environment)]

    def _schedulers(self) -> dict[str, tuple[str, ...]]:
        return scheduler_arguments(len(self._settings.ray_addresses), self._options.schedulers)

    def _api_parts(self, environment: dict[str, str]) -> list[Part]:
        """Return the API's processes. They share the port and the metrics."""
        address = ("--host", self._options.host, "--port", str(self._options.port))
        command = (sys.executable, "-P", "-m", "api", "--wait-for-schema", *address)
        if self._options.api_workers == 1:
            return [ProcessPart("api", command, environment, self._log("api"))]
        metrics = self._data / "metrics"
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir(mode=0o700)
        shared = environment | {"PROMETHEUS_MULTIPROC_DIR": str(metrics)}
        names = [f"api-{number}" for number in range(1, self._options.api_workers + 1)]
        return [ProcessPart(name, (*command, "--share-port"), shared, self._log(name)) for name in names]

    def _running(self) -> running.Running:
        """Return the connection data that other commands read."""
        redis_url = self._settings.redis_url or self._urls["REDIS_URL"]
        return running.Running(self.database_url, redis_url, self.origin, os.getpid())

    def _log(self, name: str) -> Path:
        return self._data / "logs" / f"{name}.log"


@contextmanager
def running_farm(settings: Settings, options: Options) -> Iterator[LocalFarm]:
    """Run a farm, ready at the beginning of the block. Raises as LocalFarm and its methods.

    Signals cannot cut its start and its stop, which would leave parts of the farm running.
    """
    farm = LocalFarm(settings, options)
    try:
        with deferred_signals() as ended:
            farm.start(ended)
            farm.wait_ready(ended)
        yield farm
    finally:
        with deferred_signals():
            farm.stop()


def scheduler_arguments(clusters: int, schedulers: int) -> dict[str, tuple[str, ...]]:
    """Return each scheduler's arguments by its name. Each Ray cluster of RAY_ADDRESS has schedulers of its own."""
    if clusters <= 1:
        return {f"scheduler-{number}": () for number in range(1, schedulers + 1)}
    places = [(cluster, number) for cluster in range(1, clusters + 1) for number in range(1, schedulers + 1)]
    return {f"scheduler-{cluster}-{number}": ("--cluster", str(cluster)) for cluster, number in places}


def _chosen_settings(settings: Settings) -> dict[str, str]:
    """Return the explicit settings as environment variables for the parts. Secrets are left out: they are inherited."""
    chosen = {name: getattr(settings, name) for name in settings.model_fields_set - INHERITED}
    return {name.upper(): "" if value is None else str(value) for name, value in chosen.items()}


def _failing_checks(host: str, port: int) -> str:
    """Return the failing readiness checks of the farm at the address, or an empty string if it is ready."""
    # This runs five times a second on a busy machine. httpx would take 20 ms of processor time each time.
    connection = HTTPConnection(host, port, timeout=2.0)
    try:
        connection.request("GET", "/api/ready")
        checks: dict[str, bool] = json.loads(connection.getresponse().read())["checks"]
    except (OSError, HTTPException, ValueError, KeyError):
        return "api"
    finally:
        connection.close()
    return ", ".join(name for name, passes in checks.items() if not passes)


def lock_folder(data: Path) -> int:
    """Lock the data folder for this process and return the lock's descriptor. Raises DataFolderBusy."""
    descriptor = os.open(data / "up.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DataFolderBusy(f"another farm runs on {data}") from None
    return descriptor
