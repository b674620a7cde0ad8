"""Fixtures with the console over HTTP, real Postgres and Valkey, and Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import httpserver_jwks, jwks, own_world, settings, start, worker, world
from tests.api.workers import drawing
from tests.api.world import World
from tests.console.people import Person, signed_in

__all__ = ["httpserver_jwks", "jwks", "own_world", "settings", "start", "worker", "world"]

CHROMIUM = next(
    (path for name in ("chromium-headless-shell", "chromium", "chromium-browser") if (path := shutil.which(name))), None
)


def require_browser() -> None:
    """Skip the test if the machine lacks Chromium or a library of Playwright's driver."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: `apt-get install chromium` does it")
    if find_library("atomic") is None:
        pytest.skip("Playwright's driver needs a library: `apt-get install libatomic1` does it")


SHOWN_SECONDS = 120
"""Time limit for something to appear on a page. Beside other tests, a browser takes ten times as long as alone, and more on a busy
machine."""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


def environment() -> dict[str, str | float | bool]:
    """Return the browser's environment. `./farm` sets Fontconfig to its own folder, and Chromium exits if it finds no
    font there."""
    return {name: value for name, value in os.environ.items() if name != "FONTCONFIG_SYSROOT"}


@pytest.fixture
def operator(own_world: Any) -> Iterator[Person]:
    """Yield an operator of this test's own farm."""
    with signed_in(own_world, "boss", operator=True) as person:
        yield person


@pytest.fixture
def member(own_world: Any) -> Iterator[Person]:
    """Yield an account of the same farm."""
    with signed_in(own_world, "ada") as person:
        yield person


@pytest.fixture(scope="module")
def shared_operator(world: World) -> Iterator[Person]:
    """Yield an operator of the shared farm, for requests that are refused."""
    with signed_in(world, "boss", operator=True) as person:
        yield person


@pytest.fixture(scope="module")
def shared_member(world: World) -> Iterator[Person]:
    """Yield an account of the shared farm, for requests that are refused."""
    with signed_in(world, "ada") as person:
        yield person


@pytest.fixture(scope="module")
def designer(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    """Yield a designer on a farm with a worker that draws plain pictures."""
    with drawing(world, tmp_path_factory.mktemp("stills")), signed_in(world, "designer") as person:
        yield person


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Yield the browser, which `./farm test` installs if possible.

    It is closed after each module: while Playwright runs, no other test of the process can start an event loop.
    """
    require_browser()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=SHOWN_SECONDS * 1000)
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env=environment(), timeout=SHOWN_SECONDS * 1000
        ) as browser,
    ):
        yield browser


@pytest.fixture
def window(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a window for a person: `window(person, phone=True, dark=True)`."""
    opened: list[Any] = []

    def new(person: Person, *, phone: bool = False, dark: bool = False, **options: Any) -> Any:
        size = {"width": 360, "height": 740} if phone else {"width": 1440, "height": 900}
        context = chromium.new_context(viewport=size, color_scheme="dark" if dark else "light", **options)
        context.set_default_timeout(SHOWN_SECONDS * 1000)
        context.add_cookies([person.cookie])
        opened.append(context)
        return context.new_page()

    yield new
    for context in opened:
        context.close()


@pytest.fixture
def page(designer: Person, window: Callable[..., Any]) -> Any:
    """Open the playground of a template with a picture."""
    page = window(designer)
    page.goto(f"{designer.origin}/console/templates/{designer.api.template()}/playground")
    return page


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """Return a picture."""
    from tests.api.world import picture

    path = tmp_path / "photo.png"
    path.write_bytes(picture())
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a text and a picture."""
    from tests.api.world import document, layer
    from tests.documents import bundle

    path = tmp_path / "greeting.motion"
    path.write_bytes(bundle(document(layer("n1", "Headline", "text"), layer("n2", "Photo", "image", src=""))))
    return path
