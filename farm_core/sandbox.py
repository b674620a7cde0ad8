"""Sandbox for functions that read untrusted files: worker processes with limits of processor time, memory and wall
time. Where the kernel has Landlock, they open no files but those of this process's temporary folder, and no connections.

If a worker exceeds a limit, or crashes in a decoder, it is killed and replaced, and the file is refused. If something
else kills the worker, or keeps it from working, the call is repeated. Workers stay alive between calls, so a normal call costs one round trip
over a pipe. Arguments and results are JSON, so no code comes back from a worker.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, TypeVarTuple, cast

from farm_core.concurrency_limit import ConcurrencyLimit
from farm_core.errors import BadRequest
from farm_core.settings import environment_of_children
from farm_core.telemetry import logs
from farm_core.turns import others_first

WORKERS_MAX: Final = 3
CALLS_PER_OWNER: Final = 2
"""Maximum number of concurrent calls of one account. Further calls wait without a worker."""

CPU_SECONDS: Final = 10
WALL_SECONDS: Final = 90.0
END_SECONDS: Final = 20.0
"""Time limit for a worker to end after it has closed its pipe. On a busy machine, a process that is killed takes seconds."""
MEMORY_BYTES: Final = 1_200_000_000
"""Maximum address space of a worker."""

CALLS_MAX: Final = 3
"""Number of attempts if something outside the sandbox kills the worker, such as the kernel's OOM killer, or keeps it from working for
WALL_SECONDS. Worker limits never do."""

_FROM_OUTSIDE: Final = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
"""Exit statuses of workers killed from outside. A supervisor can end a whole process group; earlyoom starts with
SIGTERM."""

RESIDENT_BYTES: Final = 300_000_000
"""Memory from which a worker is replaced after its call."""

NOT_EXAMINED: Final = (
    f"The file cannot be examined: it is damaged, or takes more than {CPU_SECONDS} s of processor time, {WALL_SECONDS:.0f} s in all or "
    f"{MEMORY_BYTES / 1e9:g} GB of memory. Save it anew, or make it smaller."
)
_log = logs.logger(__name__)

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class Refused(BadRequest):
    """A sandboxed function refused its input."""


class Exhausted(BadRequest):
    """A sandboxed function exceeded a limit or crashed."""

    def __init__(self) -> None:
        super().__init__(NOT_EXAMINED)


class Sandbox:
    """Pool of warm worker processes. A process needs only one pool. `close` ends the workers, and so does garbage
    collection. `is_confined`: the workers open temporary files of this process only."""

    def __init__(
        self, cpu_seconds: int = CPU_SECONDS, memory_bytes: int = MEMORY_BYTES, *, is_confined: bool = True
    ) -> None:
        self._limits, self._is_confined = (cpu_seconds, memory_bytes), is_confined
        self._threads = ThreadPoolExecutor(WORKERS_MAX, thread_name_prefix="sandbox")
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        weakref.finalize(self, _end, self._all)
        self._lock = threading.Lock()
        self._closed = False
        self._calls = ConcurrencyLimit(CALLS_PER_OWNER, None)

    def warm(self) -> None:
        """Start a worker in the background."""
        self._threads.submit(self._warm_worker)

    async def call(self, owner: str, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Return `function(*arguments)`, run in a worker for the account `owner`.

        The function must be defined in a module; arguments and result are JSON values. It can raise BadRequest and
        DocumentError.

        Raises Refused with the function's reason, Exhausted after an exceeded limit or a crash, and OSError if a disk
        is full. A cancelled call counts until its worker has finished.
        """
        async with others_first():
            await self._calls.acquire(owner)
            calling = self._threads.submit(partial(self.call_now, function, *arguments))
            calling.add_done_callback(partial(self._end_call, asyncio.get_running_loop(), owner))
            return await asyncio.wrap_future(calling)

    def _end_call(self, loop: asyncio.AbstractEventLoop, owner: str, _: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process ends
            loop.call_soon_threadsafe(self._calls.release, owner)

    def call_now(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Do the same as `call`, and block this thread."""
        name = f"{function.__module__}:{function.__qualname__}"
        for _ in range(CALLS_MAX):
            with self._worker() as worker:
                answer = worker.ask(name, list(arguments))
            if answer is not None or not worker.was_killed:
                break
        if answer is None:
            raise Exhausted
        if "full" in answer:
            raise OSError(errno.ENOSPC, answer["full"])
        if "failed" in answer:
            _log.error("a sandboxed function failed", function=function.__qualname__, traceback=answer["failed"])
            raise Exhausted
        if "refused" in answer:
            raise Refused(answer["refused"], **answer["extras"])
        return cast(Result, answer["result"])

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closed = True
            workers = self._all.copy()
            self._all.clear()
        _end(workers)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _warm_worker(self) -> None:
        with self._worker() as worker:
            worker.ask("farm_core.sandbox_worker:ready", [])

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is None or not worker.living():
            worker = _Worker(*self._limits, tempfile.gettempdir() if self._is_confined else None)
        with self._lock:
            self._all.add(worker)
        try:
            yield worker
        finally:
            with self._lock:
                keep = worker.living() and not worker.grown and not self._closed
                if keep:
                    self._idle.append(worker)
                else:
                    self._all.discard(worker)
            if not keep:
                worker.kill()


def _end(workers: set[_Worker]) -> None:
    while workers:
        workers.pop().kill()


class _Worker:
    """A process of `farm_core.sandbox_worker`. Each request and each answer is a line of JSON."""

    def __init__(self, cpu_seconds: int, memory_bytes: int, folder: str | None) -> None:
        command = [sys.executable, "-P", "-m", "farm_core.sandbox_worker", str(cpu_seconds), str(memory_bytes)]
        own = {} if folder is None else {"TMPDIR": folder}
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command if folder is None else [*command, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment_of_children() | own,
        )
        self.grown = False
        self.was_killed = False
        """True if something outside the sandbox killed the worker during its last call, or kept it from working."""

    def living(self) -> bool:
        """Return True while the process runs."""
        return self._process.poll() is None

    def ask(self, function: str, arguments: list[Any]) -> dict[str, Any] | None:
        """Return the worker's answer, or None if it crashed or a limit killed it."""
        try:
            answer = self._exchanged(json.dumps([function, arguments]).encode() + b"\n")
            answer_fields: dict[str, Any] = json.loads(answer)
        except (OSError, ValueError) as error:
            is_late = isinstance(error, TimeoutError)
            self.was_killed = self._is_held_up() if is_late else self._ended_by() in _FROM_OUTSIDE
            self.kill()
            _log.warning("a sandbox worker was killed", function=function, status=self._process.returncode)
            return None
        self.grown = answer_fields.pop("resident_bytes") > RESIDENT_BYTES
        return answer_fields

    def _is_held_up(self) -> bool:
        """Return True if the process is stopped, or waits for a processor or a disk. One that hangs because of its file sleeps."""
        with suppress(OSError):  # it has just ended
            states = [(task / "stat").read_text() for task in Path(f"/proc/{self._process.pid}/task").iterdir()]
            return any(state.rpartition(")")[2].split()[0] != "S" for state in states)
        return False

    def _ended_by(self) -> int | None:
        """Return the exit status of a process that has closed its pipe, or None if it is still running."""
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _exchanged(self, request: bytes) -> bytes:
        """Return the answer to the request. The line is incomplete or empty if the worker died or took too long."""
        assert self._process.stdin is not None and self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        self._process.stdin.write(request)
        self._process.stdin.flush()
        answer = bytearray()
        deadline = time.monotonic() + WALL_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                if not (chunk := os.read(descriptor, 1 << 16)):
                    raise BrokenPipeError
                answer += chunk
        return bytes(answer)
