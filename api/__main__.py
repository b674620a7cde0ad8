"""Serve the API: `python -m api --host H --port P --data DIR`.

Postgres and Redis come from `DATABASE_URL` and `REDIS_URL`, else from the farm that runs on the data folder.
"""

from __future__ import annotations

import farm_core.quick_start  # noqa: F401  # isort: skip
import argparse
import gc
import sys
from pathlib import Path

import uvicorn

from api.app import app_state_from, create_app
from api.server import config, listeners
from farm_core import running
from farm_core.db import schema
from farm_core.scratch import Scratch
from farm_core.settings import Settings, settings
from farm_core.telemetry import logs, traces
from farm_core.user_error import status_of

DRAIN_SECONDS = 20

gc.enable()


def main(words: list[str]) -> int:
    """Serve until SIGINT or SIGTERM, then finish the requests in flight."""
    parser = argparse.ArgumentParser(prog="python -m api", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--share-port", action="store_true", help="let other API processes listen on the port too")
    parser.add_argument(
        "--wait-for-schema", action="store_true", help="begin when the database has this version's schema"
    )
    arguments = parser.parse_args(words)
    gc.disable()
    chosen = located(settings(), arguments.data)
    if chosen.database_url is None or chosen.redis_url is None:
        parser.error("no farm runs on the data folder; start it with ./farm up, or set DATABASE_URL and REDIS_URL")
    logs.set_up(chosen.log_level)
    traces.set_up(chosen, "api")
    with Scratch("api"):
        options = config(
            create_app(app_state_from(chosen)),
            host=arguments.host,
            port=arguments.port,
            proxy_headers=bool(chosen.trusted_proxies),
            forwarded_allow_ips=chosen.trusted_proxies,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        if arguments.wait_for_schema:
            schema.wait(chosen.database_url)
        gc.collect()
        gc.freeze()  # the code's own objects never die: a full collection that visits them delays requests by 30 ms and more
        gc.enable()
        uvicorn.Server(options).run(sockets=listeners(options, is_shared=arguments.share_port))
    return 0


def located(base: Settings, data_folder: Path | None) -> Settings:
    """Return the settings with the data folder of the command line and the servers of the farm that runs there."""
    folder = data_folder or base.data_folder
    found = running.read(folder)
    found_urls = {} if found is None else {"database_url": found.database_url, "redis_url": found.redis_url}
    own = {name: value for name in found_urls if (value := getattr(base, name)) is not None}
    return base.model_copy(update={"data_folder": folder} | found_urls | own)


if __name__ == "__main__":
    sys.exit(status_of(main))
