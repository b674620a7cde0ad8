"""A farm on several machines, each with its own network. Its services are started from the systemd units."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg

from cluster.local.accounts import session_token
from farm_core.settings import Settings
from tests.acceptance.farm import ROOT, ProcessFarm, imported, uploaded
from tests.acceptance.stores import Stores, stores
from tests.machines import Machine, Network, network

PATIENCE_SECONDS = 600
"""On a busy machine, Ray may start several times before it is fast enough for its own time limits."""

OPEN_MAX = 6
"""Maximum number of open jobs: enough to keep the farm busy, and few enough to finish soon."""


@dataclass(slots=True)
class Fleet:
    """A farm whose services run on several machines, as their systemd units start them."""

    stores: Stores
    network: Network
    environment: dict[str, str]
    head: Machine
    farm: ProcessFarm
    nodes: dict[str, Machine] = field(default_factory=dict)

    def add(self, name: str) -> Machine:
        """Add a machine that renders."""
        node = self.nodes[name] = self.network.machine(name)
        node.enable("render-farm-node", needed_to_draw(self.environment))
        return node

    def workers(self) -> set[str]:
        """Return the nodes whose workers a scheduler has seen in the last seconds."""
        query = "SELECT DISTINCT node FROM workers WHERE seen_at > now() - interval '8 seconds'"
        with psycopg.connect(self.stores.database_url) as connection:
            return {row[0] for row in connection.execute(query)}

    def worker_count(self) -> int:
        """Return the number of workers that a scheduler has seen in the last seconds."""
        query = "SELECT count(*) FROM workers WHERE seen_at > now() - interval '8 seconds'"
        with psycopg.connect(self.stores.database_url) as connection:
            (count,) = connection.execute(query).fetchone() or (0,)
        return int(count)

    def wait_for_workers(self, *names: str) -> None:
        """Wait until exactly these machines have live workers."""
        wanted = {self.nodes[name].address for name in names}
        wait_for(
            lambda: self.workers() == wanted, PATIENCE_SECONDS, lambda: f"workers on {self.workers()}, not {wanted}"
        )


class Feeder(threading.Thread):
    """Client that keeps a few jobs open and fetches each result when it is ready."""

    def __init__(self, farm: ProcessFarm, url: str) -> None:
        super().__init__()
        self._farm, self._url = farm, url
        self._key = secrets.token_hex(8)
        self._template = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
        self._logo = uploaded(farm, ROOT / "examples" / "media" / "logo.png")
        self._ending = threading.Event()
        self.jobs: list[str] = []
        self.ended: dict[str, str] = {}
        self.error: BaseException | None = None

    def run(self) -> None:
        """Create jobs until it is stopped, then wait for all of them."""
        try:
            while not self._ending.is_set():
                self._create()
                while len(self.jobs) - len(self.ended) >= OPEN_MAX:
                    self._await(next(job for job in self.jobs if job not in self.ended))
            for job in self.jobs:
                self._await(job)
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        """Wait until every job has ended."""
        self._ending.set()
        self.join()
        if self.error is not None:
            raise self.error

    def wait_for_more(self) -> None:
        """Wait until two more jobs have ended, which shows that the farm works."""
        before = len(self.ended)
        wait_for(
            lambda: len(self.ended) >= before + 2 or self.error is not None, PATIENCE_SECONDS, lambda: "no job ends"
        )
        assert self.error is None, self.error

    def _create(self) -> None:
        number = len(self.jobs)
        headline = f"{self._key} {number}"
        key = f"{self._key}-{number:04}"
        self.jobs.append(self._farm.render(self._template, key, self._url, logo=self._logo, headline=headline))

    def _await(self, job: str) -> None:
        if job not in self.ended:
            self.ended[job] = self._farm.ended(job, seconds=400)["status"]


@contextmanager
def fleet(folder: Path) -> Iterator[Fleet]:
    """Yield a head with the API and two schedulers, two machines that render, and stores on the network."""
    with head_only(folder) as made:
        made.add("one")
        made.add("two")
        wait_for(lambda: answers(made.farm.origin, "ready"), PATIENCE_SECONDS, lambda: "the farm is not ready")
        made.wait_for_workers("one", "two")
        yield made


@contextmanager
def head_only(folder: Path, cluster: Mapping[str, object] | None = None, **settings: str) -> Iterator[Fleet]:
    """Yield the same without machines that render, with more settings. `cluster` is the configuration of Ray's
    autoscaler, if any."""
    with network(folder) as lan, stores(folder, lan.address) as kept:
        head = lan.machine("head")
        origin = f"http://{head.address}:8000"
        environment = {
            **kept.environment, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_HEAD": f"{head.address}:6379", "JWT_SECRET": "s" * 32, "PUBLIC_ORIGIN": origin, "WORKERS": "1",
            "GL_SOFTWARE": "true", "AUTOMATION_ALLOW_PRIVATE_CALLBACKS": "true",
            "AUTOMATION_RENDERS_PER_MINUTE": "1000", "AUTOMATION_REQUESTS_PER_MINUTE_PER_IP": "100000",
            "DATA_FOLDER": "/tmp/data", **settings,
        }  # fmt: skip
        farm = ProcessFarm(folder, origin, head.init, storage=kept.storage)
        (head.folder / "cluster.json").write_text(json.dumps(cluster))
        autoscaling = "" if cluster is None else "--autoscaling-config=/tmp/cluster.json"
        head.enable("render-farm-head", environment, options=autoscaling)
        for number in "12":
            head.enable("render-farm-scheduler@", environment, number)
        head.enable("render-farm-api", environment)
        wait_for(lambda: answers(origin), PATIENCE_SECONDS, lambda: "the API does not answer")
        farm.token = session_token(Settings(jwt_secret="s" * 32, data_folder=folder), kept.database_url, "tester")
        try:
            yield Fleet(kept, lan, environment, head, farm)
        finally:
            farm.client.close()


def needed_to_draw(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a machine needs which only draws. Its workers get all settings from the scheduler."""
    return {name: value for name, value in environment.items() if name.startswith(("AWS_", "RAY_"))}


def answers(origin: str, probe: str = "health") -> bool:
    """Return True if a probe of the API succeeds."""
    try:
        return httpx.get(f"{origin}/api/{probe}", timeout=2, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def wait_for(reached: Callable[[], bool], seconds: float, what: Callable[[], str]) -> None:
    """Wait until the condition holds. After the time limit, fail with the message."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, what()
        time.sleep(0.2)
