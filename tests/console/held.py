"""Delay answers to a page, and deliver them in another order."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import APIResponse, Error, Request, Route

from tests.console.conftest import SHOWN_SECONDS


class HeldAnswers:
    """Answers of the farm to requests of a page. Each answer is computed at once and held until the test releases it.

    Chromium does not show the contents of uploads, so uploads themselves are held.
    """

    def __init__(self, page: Any, pattern: str, among: Callable[[Request], bool] = lambda _: True) -> None:
        self._page, self._among = page, among
        self._held: list[tuple[Route, APIResponse | None]] = []
        self._passes_on = False
        page.route(pattern, self._take)

    def _take(self, route: Route) -> None:
        if self._passes_on or not self._among(route.request):
            route.fallback()
            return
        is_upload = "multipart" in route.request.headers.get("content-type", "")
        answer = None if is_upload else route.fetch(timeout=SHOWN_SECONDS * 1000)
        if self._passes_on:  # since the answer was asked for
            self._deliver(route, answer)
        else:
            self._held.append((route, answer))

    def _deliver(self, route: Route, answer: APIResponse | None) -> None:
        with contextlib.suppress(Error):  # the page has cancelled the request
            route.fulfill(response=answer) if answer else route.continue_()

    def wait(self, count: int = 1) -> None:
        """Wait until this number of answers is held."""
        ends = time.monotonic() + SHOWN_SECONDS
        while len(self._held) < count:
            assert time.monotonic() < ends, f"the page has asked {len(self._held)} times, not {count} times"
            self._page.wait_for_timeout(50)

    def pass_on(self) -> None:
        """Hold no more answers. Those already held stay held.

        The route stays too: without any, Chromium sends the held requests again, and their answers can be lost.
        """
        self._passes_on = True

    def arrive(self, *, newest_first: bool = False) -> None:
        """Deliver the held answers, by default oldest first, and wait until the page shows them."""
        while self._held:
            self._deliver(*self._held.pop(-1 if newest_first else 0))
            with contextlib.suppress(Error):
                self._page.wait_for_timeout(1000 if newest_first else 0)  # makes them arrive in this order
        with contextlib.suppress(Error):  # the answer can load another page
            self._page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 300))")
