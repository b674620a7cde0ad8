"""Untrusted input with limits of processor time and memory is read or refused, without a crash, hang or server error.

`./farm test --slow tests/fuzz` tries new examples for an hour. Keep its findings: copy the file that a failure names
to `tests/fuzz/kept/TARGET/`, where every run reads it.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from api.header_values import parameters
from farm_core.errors import BadRequest
from farm_core.sandbox import Sandbox
from tests.api.world import World
from tests.attacks.test_server import answer, connected
from tests.fuzz import generators, targets

CPU_SECONDS: Final = 5
MEMORY_BYTES: Final = 1_200_000_000
EXAMPLES: Final = 60
SLOW_SECONDS: Final = 600
KEPT: Final = Path(__file__).with_name("kept")
INPUTS: Final[dict[str, tuple[Callable[[str], str], st.SearchStrategy[bytes]]]] = {
    "document": (targets.document, generators.projects()),
    "svg": (targets.svg, generators.svgs()),
    "media": (targets.media, generators.media_files()),
}
pytestmark = pytest.mark.timeout(3 * SLOW_SECONDS)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(CPU_SECONDS, MEMORY_BYTES, is_confined=False)  # SVGs are drawn, with fonts
    yield sandbox
    sandbox.close()


def examples(check: Callable[[Any], None], strategy: st.SearchStrategy[Any], slow: bool) -> None:
    """Run the check on the same few examples each time, or (slow) on new ones for SLOW_SECONDS."""
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    given_some = settings(
        max_examples=2_000 if slow else EXAMPLES, database=None, derandomize=not slow, phases=phases,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    end = time.monotonic() + SLOW_SECONDS
    while True:
        given_some(given(strategy)(check))()
        if not slow or time.monotonic() >= end:
            return


@pytest.mark.thorough
@pytest.mark.parametrize("name", INPUTS)
def test_foreign_files_are_read_or_refused(name: str, sandbox: Sandbox, slow: bool, tmp_path: Path) -> None:
    function, strategy = INPUTS[name]
    seen: set[str] = set()

    def check(data: bytes) -> None:
        path = tmp_path / hashlib.sha256(data).hexdigest()[:16]
        path.write_bytes(data)
        try:
            seen.add(sandbox.call_now(function, str(path)))
        except BadRequest as fault:
            raise AssertionError(f"{fault}: keep {path}") from fault
        path.unlink()

    examples(check, strategy, slow)
    assert len(seen) > 1, f"examples of one kind only: {seen}"


@pytest.mark.parametrize("path", sorted(KEPT.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_earlier_findings_stay_fixed(path: Path, sandbox: Sandbox) -> None:
    sandbox.call_now(INPUTS[path.parent.name][0], str(path))


def test_header_values_are_read_or_refused(slow: bool) -> None:
    def check(value: str) -> None:
        try:
            parameters(value)
        except BadRequest:
            return

    parts = st.sampled_from(["multipart/form-data", ";", "=", '"', "\\", "boundary", "filename*", "UTF-8''%", "a", " "])
    examples(check, st.lists(parts | st.text(max_size=9), max_size=60).map("".join), slow)


@pytest.mark.service
def test_requests_are_answered_or_closed_and_the_server_goes_on(world: World, slow: bool) -> None:
    def check(data: bytes) -> None:
        with connected(world) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                return  # the server closed before everything was sent
            reply = answer(connection)
        status = reply.split(b" ")[1:2]
        assert not status or status[0] < b"500" or status[0] == b"501", (data, reply[:300])

    examples(check, generators.requests(), slow)
    assert world.client.get("/api/health").status_code == 200
