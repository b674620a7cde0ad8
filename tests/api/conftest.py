"""Fixtures with the real app over HTTP, on real Postgres and Valkey."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from api import server
from api.app import app_state_from, create_app
from cluster.embedded import valkey
from farm_core.settings import Settings
from farm_core.telemetry import logs
from tests import sandboxes
from tests.api.world import World
from tests.clock import ManualClock
from tests.patience import HANG_SECONDS

if TYPE_CHECKING:
    from tests.scheduler.farm import DummyWork

PUBLIC_ADDRESS = "93.184.216.34"


async def resolve(host: str, port: int) -> list[str]:
    """Resolve names for the tests: all are public, except those that contain their own address."""
    if host.startswith("unknown."):
        raise OSError("unknown name")
    return ["10.0.0.7"] if host.startswith("private.") else [PUBLIC_ADDRESS]


@pytest.fixture
def settings(database_url: str, redis_url: str, data_folder: Path) -> Settings:
    return _settings(database_url, redis_url, data_folder)


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[..., World]]:
    """Start an app with changed settings on the test's own database and clock."""
    with ExitStack() as started:
        yield lambda **changes: started.enter_context(running(settings.model_copy(update=changes)))


@pytest.fixture
def own_world(start: Callable[..., World]) -> World:
    """Yield an app of this test only. Tests can move its clock and read its tables."""
    return start()


@pytest.fixture
def worker(own_world: World, tmp_path: Path) -> Iterator[DummyWork]:
    """Yield a worker that draws plain pictures for `own_world`."""
    from tests.api.workers import drawing

    with drawing(own_world, tmp_path) as work:
        yield work


@pytest.fixture(scope="session")
def world(
    shared_database_url: str, shared_valkey_server: valkey.EmbeddedValkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Yield an app that tests share. Tests create their own accounts, and leave the clock alone."""
    with running(_settings(shared_database_url, shared_valkey_server.url, tmp_path_factory.mktemp("data"))) as world:
        yield world


def _settings(database_url: str, redis_url: str, data_folder: Path) -> Settings:
    return Settings(
        database_url=database_url,
        redis_url=redis_url,
        data_folder=data_folder,
        automation_requests_per_minute_per_ip=1_000_000,
        automation_renders_per_minute=1_000,
        batches_per_minute=1_000,
        statement_seconds_max=600,  # tests hold locks, for long on a busy machine
    )


class _Server(uvicorn.Server):
    """Server that reports when it listens. Polling for it would take processor time from the start itself."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def running(chosen: Settings) -> Iterator[World]:
    clock = ManualClock()
    app = create_app(replace(app_state_from(chosen, clock, resolve), sandbox=sandboxes.SHARED))
    proxies = chosen.trusted_proxies
    # A page that its test has closed can still wait 5 s for a picture, which nobody draws.
    options = server.config(
        app, port=0, proxy_headers=bool(proxies), forwarded_allow_ips=proxies, timeout_graceful_shutdown=1
    )
    serving, sockets = _Server(options), server.listeners(options)
    thread = threading.Thread(target=serving.run, args=(sockets,))
    thread.start()
    while not serving.listens.wait(1):
        assert thread.is_alive()
    world = World(f"http://127.0.0.1:{sockets[0].getsockname()[1]}", chosen, clock)
    try:
        yield world
    finally:
        world.close()
        serving.should_exit = True
        thread.join(HANG_SECONDS)


@dataclass(frozen=True, slots=True)
class Jwks:
    """An address that serves a JWKS, its public key as PEM, and a function that signs tokens for an account.

    `keys` are the listed keys; without any it answers 503. `asked` has an entry for each request. It answers only
    while `answers` is set.
    """

    address: str
    public: bytes
    sign: Callable[..., str]
    keys: list[dict[str, object]]
    asked: list[str]
    answers: threading.Event


@pytest.fixture
def jwks() -> Iterator[Jwks]:
    private = ec.generate_private_key(ec.SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    listed: list[dict[str, object]] = [{**public, "kid": "one", "alg": "ES256", "use": "sig"}]
    asked: list[str] = []
    answers = threading.Event()
    answers.set()

    class Serve(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answers.wait()
            self.send_response(200 if listed else 503)
            self.end_headers()
            self.wfile.write(json.dumps({"keys": listed}).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    def sign(account_id: str, **more: object) -> str:
        claims = {"sub": account_id, "exp": int(time.time()) + 3600, **more}
        return jwt.encode(claims, private, algorithm="ES256", headers={"kid": "one"})

    with HTTPServer(("127.0.0.1", 0), Serve) as keys:
        thread = threading.Thread(target=keys.serve_forever)
        thread.start()
        pem = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        yield Jwks(f"http://127.0.0.1:{keys.server_port}/jwks.json", pem, sign, listed, asked, answers)
        answers.set()
        keys.shutdown()
        thread.join()


@pytest.fixture
def httpserver_jwks(jwks: Jwks) -> tuple[str, Callable[..., str]]:
    """Return the address and the signing function of `jwks`."""
    return jwks.address, jwks.sign


@pytest.fixture(scope="session", autouse=True)
def _quiet_logs() -> None:
    logs.set_up("WARNING", human=False)
