"""Run the whole farm in the foreground until SIGINT or SIGTERM; then drain it and end.

Parts that the settings do not name (Postgres, Redis, Ray) are embedded ones in the data folder; a part that dies is started
again. Prints `ready http://H:P/api` when it can take requests.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from cluster.embedded.process import ServerFailed
from cluster.local.farm import DataFolderBusy, LocalFarm, Wishes
from cluster.local.supervisor import LOOK_SECONDS
from farm_core.settings import settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to listen, where the data lie, how many workers."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
    parser.add_argument("--data", type=Path, default=None, metavar="DIR", help="data folder (.farm)")
    parser.add_argument("--workers", type=int, default=None, metavar="N", help="render actors (one a core, or a GPU)")
    parser.add_argument("--schedulers", type=int, default=1, metavar="N", help="scheduler processes (1)")


def run(arguments: argparse.Namespace) -> int:
    """Runs until a signal; returns 0 after a clean end, 1 where the farm could not start."""
    chosen = settings() if arguments.data is None else settings().model_copy(update={"data_folder": arguments.data})
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        farm = LocalFarm(chosen, Wishes(arguments.host, arguments.port, arguments.workers, arguments.schedulers))
    except DataFolderBusy as busy:
        print(f"farm: {busy}", file=sys.stderr)
        return 1
    return _looked_after(farm, ended)


def _looked_after(farm: LocalFarm, ended: threading.Event) -> int:
    try:
        farm.start()
        if farm.wait_ready(ended.is_set):
            print(f"ready {farm.origin}/api", flush=True)
        while not ended.wait(LOOK_SECONDS):
            farm.look()
    except ServerFailed as failure:
        print(f"farm: {failure}", file=sys.stderr)
        return 1
    finally:
        farm.stop()
    return 0
