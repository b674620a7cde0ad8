"""Worker process of `farm_core.sandbox`: runs one call after another, each with its own limits.

`python -m farm_core.sandbox_worker CPU_SECONDS MEMORY_BYTES [FOLDER]` reads lines `[function, arguments]`. With a folder, it opens
files of the interpreter, the system's libraries and this folder only, and no connections, where the kernel supports it. It writes lines
`{"result": ...}`, `{"refused": message, "extras": {...}}`, `{"full": message}` or `{"failed": traceback}`, with
`resident_bytes`, its peak memory.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

from farm_core import landlock
from farm_core.errors import BadRequest
from farm_core.storage.disk_space import is_disk_full
from motion.errors import DocumentError

_ROOT: Final = Path(__file__).resolve().parents[1]
_SYSTEM: Final = (
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/magic", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
    "/sys/devices/system/cpu",
)  # fmt: skip
_DEVICES: Final = ("/dev/null", "/dev/urandom")


def ready() -> bool:
    """Import modules that calls need, so that the first call is fast."""
    import_module("farm_core.assets.inspection")
    import_module("motion.template")
    return True


def main(words: list[str]) -> int:
    """Serve calls until the input is closed."""
    cpu_seconds, memory_bytes = map(int, words[:2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent, which drains first
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not break the protocol
    ready()
    if len(words) > 2:
        with suppress(landlock.SandboxUnavailable):  # `./farm doctor` reports it
            landlock.enter(_policy(Path(words[2])))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _serve(answers, cpu_seconds)


def _policy(folder: Path) -> landlock.Policy:
    """Return the policy of this process, which keeps a library that a hostile file controls from other files and connections.

    In a checkout only the packages are readable: `.env` and the data folder are beside them.
    """
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    places = {Path(one).resolve() for one in (*prefixes, *sys.path) if one} - {Path("/")}
    if not _ROOT.name.endswith("-packages"):
        places.discard(_ROOT)
        for package in [one.parent for one in _ROOT.glob("*/__init__.py")]:
            import_module(package.name)  # modules of an imported package are found without a look at `_ROOT`
            places.add(package)
    return landlock.Policy((*places, *map(Path, _SYSTEM)), (folder,), tuple(map(Path, _DEVICES)))


def _serve(answers: BinaryIO, cpu_seconds: int) -> int:
    for line in sys.stdin.buffer:
        function, arguments = json.loads(line)
        soft = int(time.process_time()) + 1 + cpu_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
        try:
            answer = _answer(function, arguments)
        except MemoryError:
            return 1
        answer["resident_bytes"] = _peak_bytes()
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()
    return 0


def _peak_bytes() -> int:
    """Return the peak memory of this process. `ru_maxrss` would include that of the parent, a whole scheduler or API."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024


def _answer(function: str, arguments: list[Any]) -> dict[str, Any]:
    module, _, name = function.partition(":")
    try:
        return {"result": getattr(import_module(module), name)(*arguments)}
    except (BadRequest, DocumentError) as refusal:
        return {"refused": refusal.message, "extras": dict(getattr(refusal, "extras", {}))}
    except MemoryError:
        raise
    except Exception as error:  # outer boundary of the process: the parent logs the error
        return {"full": str(error)} if is_disk_full(error) else {"failed": traceback.format_exc(limit=-12)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
