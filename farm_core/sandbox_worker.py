"""Worker process of `farm_core.sandbox`: runs one call after another, each with its own limits.

`python -m farm_core.sandbox_worker CPU_SECONDS MEMORY_BYTES` reads lines `[function, arguments]`. It writes lines
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
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from farm_core.errors import BadRequest
from farm_core.storage.disk_space import is_disk_full
from motion.errors import DocumentError


def ready() -> bool:
    """Import modules that calls need, so that the first call is fast."""
    import_module("farm_core.assets.inspection")
    import_module("motion.template")
    return True


def main(words: list[str]) -> int:
    """Serve calls until the input is closed."""
    cpu_seconds, memory_bytes = map(int, words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent, which drains first
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not break the protocol
    ready()
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _serve(answers, cpu_seconds)


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
