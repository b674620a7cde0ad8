"""The real app over real HTTP, on real Postgres and Valkey."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn

from api.app import create_app, farm_from
from farm_core.clock import ManualClock
from farm_core.settings import Settings
from tests.api.world import World

PUBLIC_ADDRESS = "93.184.216.34"


async def resolve(host: str, port: int) -> list[str]:
    """Names as the tests would have them: every one is public but those that say what they are."""
    if host.startswith("unknown."):
        raise OSError("unknown name")
    return ["10.0.0.7"] if host.startswith("private.") else [PUBLIC_ADDRESS]


@pytest.fixture
def settings(database_url: str, redis_url: str, data_folder: Path) -> Settings:
    return Settings(
        _env_file=None,
        database_url=database_url,
        redis_url=redis_url,
        data_folder=data_folder,
        automation_requests_per_minute_per_ip=1_000_000,
        automation_renders_per_minute=1_000,
    )


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[..., World]]:
    """Starts an app with changed settings; every one started ends with the test."""
    started: list[tuple[uvicorn.Server, threading.Thread, World]] = []

    def begin(**changes: object) -> World:
        clock = ManualClock()
        chosen = settings.model_copy(update=changes)
        server = uvicorn.Server(
            uvicorn.Config(create_app(farm_from(chosen, clock, resolve)), port=0, log_config=None, access_log=False)
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        world = World(f"http://127.0.0.1:{port}", chosen, clock)
        started.append((server, thread, world))
        return world

    yield begin
    for server, thread, world in started:
        world.close()
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def world(start: Callable[..., World]) -> World:
    return start()
