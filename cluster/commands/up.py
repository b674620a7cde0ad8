"""Run the whole farm in the foreground until SIGINT or SIGTERM; then drain it and end.

Postgres, Redis and Ray run embedded, with their data in the data folder, unless the settings name other ones. A component that dies is
restarted. Prints `ready http://H:P/api` when the farm takes requests, and a one-time link to the console.
"""

from __future__ import annotations

import argparse
import signal
import threading
from types import FrameType
from typing import Final

from cluster.local.farm import LocalFarm, Options
from cluster.local.supervisor import POLL_SECONDS
from farm_core.cli import data_folder
from farm_core.cli.argument_types import whole
from farm_core.telemetry import logs

API_WORKERS_MAX: Final = 6
"""Limit of API processes. Each uses up to 24 of the embedded Postgres's 200 connections."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the address, the data folder and the numbers of workers and schedulers."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=whole(1, 65535), default=8000, help="port to listen on (8000)")
    parser.add_argument(
        "--workers", type=whole(1), metavar="N", help="render actors (one for each GPU, else each core)"
    )
    parser.add_argument("--schedulers", type=whole(1), default=1, metavar="N", help="scheduler processes (1)")
    parser.add_argument(
        "--api-workers", type=whole(1, API_WORKERS_MAX), default=1, metavar="N", help="API processes (1)"
    )
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run until a signal arrives. Return 0 after a clean stop. Raises Failure if the farm cannot start."""
    chosen = data_folder.settings_of(arguments)
    logs.set_up(chosen.log_level)
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # a closed terminal sends SIGHUP; nohup ignores it
        signal.signal(signal.SIGHUP, end)
    options = Options(arguments.host, arguments.port, arguments.workers, arguments.schedulers, arguments.api_workers)
    return _looked_after(LocalFarm(chosen, options), ended)


def _looked_after(farm: LocalFarm, ended: threading.Event) -> int:
    try:
        farm.start(ended.is_set)
        if farm.wait_ready(ended.is_set):
            from cluster.local.accounts import console_link  # noqa: PLC0415 - loads the tables, which starting need not wait for

            print(f"ready {farm.origin}/api", flush=True)
            print(f"console {console_link(farm.database_url, farm.origin)}", flush=True)
        while not ended.wait(POLL_SECONDS):
            farm.poll()
    finally:
        farm.stop()
    return 0
