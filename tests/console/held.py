"""Answers that come late, and in another order than they were asked for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import APIResponse, Error, Request, Route

from tests.console.conftest import SHOWN_SECONDS


class HeldAnswers:
    """The farm's answers to requests of a page, each as it was given, held back until the test lets it arrive.

    Chromium does not show what a file holds, so uploads themselves are held.
    """

    def __init__(self, page: Any, pattern: str, among: Callable[[Request], bool] = lambda _: True) -> None:
        self._page, self._pattern, self._among = page, pattern, among
        self._held: list[tuple[Route, APIResponse | None]] = []
        page.route(pattern, self._take)

    def _take(self, route: Route) -> None:
        if self._among(route.request):
            is_upload = "multipart" in route.request.headers.get("content-type", "")
            self._held.append((route, None if is_upload else route.fetch()))
        else:
            route.fallback()

    def wait(self, count: int = 1) -> None:
        """Wait until this many answers are held."""
        ends = time.monotonic() + SHOWN_SECONDS
        while len(self._held) < count:
            assert time.monotonic() < ends, f"the page has asked {len(self._held)} times, not {count} times"
            self._page.wait_for_timeout(50)

    def pass_on(self) -> None:
        """Hold no further answer. What is held stays so."""
        self._page.unroute(self._pattern, self._take)

    def arrive(self, *, newest_first: bool = False) -> None:
        """Let the held answers arrive, the oldest first unless told otherwise, and the page show them."""
        for route, answer in reversed(self._held) if newest_first else self._held:
            with contextlib.suppress(Error):  # the page has given the request up
                route.fulfill(response=answer) if answer else route.continue_()
                self._page.wait_for_timeout(1000 if newest_first else 0)  # so that they arrive in this order
        self._held.clear()
        with contextlib.suppress(Error):  # the answer may lead to another page
            self._page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 300))")
