"""Attacks of a hostile account on a farm, each kind in a thread of its own until it is stopped."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

ADDRESS: Final = "127.0.0.2"
"""Address of the attacker, so that limits of an address do not affect the honest account."""

PARTIAL_REQUESTS: Final = 300
SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">{}</svg>'


def multiplied() -> str:
    """An SVG whose references multiply to 20 to the power of 8 rectangles."""
    layers = "".join(f'<g id="g{n}">' + f'<use href="#g{n - 1}"/>' * 20 + "</g>" for n in range(1, 9))
    return SVG.format(f'<defs><g id="g0"><rect width="1" height="1"/></g>{layers}</defs><use href="#g8"/>')


def zipped(files: list[tuple[str, bytes]]) -> bytes:
    """A project with these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return packed.getvalue()


def document() -> dict[str, Any]:
    """A document of one layer that shows a picture."""
    root = {
        "id": "comp_root", "name": "Main", "parent": None, "children": ["n1"], "visible": True,
        "components": [{"id": "c", "type": "group", "props": {"__kind": "group"}}],
    }  # fmt: skip
    shown = {
        "id": "n1", "name": "Photo", "parent": "comp_root", "children": [], "visible": True,
        "components": [{"id": "t", "type": "Transform", "props": {"__kind": "image", "src": "", "width": 640, "height": 360}}],
    }  # fmt: skip
    comp = {"id": "comp_root", "name": "Card", "width": 640, "height": 360, "fps": 30, "durationSeconds": 20}
    nodes = {"rootIds": ["comp_root"], "nodes": [root, shown]}
    return {
        "version": "1.6.0", "scene": nodes, "animation": {"tracks": {}, "expressions": {}}, "comps": {"comp_root": comp}
    }  # fmt: skip


class Hostile:
    """The hostile account: its client, its tarpit, its template, and how often each answer came."""

    def __init__(self, origin: str, token: str) -> None:
        transport = httpx.HTTPTransport(local_address=ADDRESS)
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=f"{origin}/api/v1", headers=headers, timeout=60, transport=transport)
        self.origin, self.statuses, self.ended = origin, Counter[str](), threading.Event()
        self.tarpit = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.slow = f"http://127.0.0.1:{self.tarpit.getsockname()[1]}"
        body = {
            "name": "Photo", "document": document(), "inputs": [{"id": "photo", "label": "Photo", "kind": "image"}],
            "width": 640, "height": 360, "fps": 30, "durationSeconds": 20,
        }  # fmt: skip
        self.template = str(self.client.post("/templates", json=body).raise_for_status().json()["id"])
        poison = {"file": ("a.svg", multiplied().encode(), "image/svg+xml")}
        self.poison = str(self.client.post("/assets", files=poison).raise_for_status().json()["url"])

    def ask(self, method: str, path: str, **given: Any) -> httpx.Response | None:
        """Send a request. Return its answer and count it, or return None without an answer."""
        try:
            answer = self.client.request(method, path, **given)
        except httpx.HTTPError:
            self.statuses["closed"] += 1
            return None
        self.statuses[str(answer.status_code)] += 1
        if answer.status_code == 429:
            self.ended.wait(1)
        return answer

    def render(self, source: str) -> None:
        """Create a render and cancel it a moment later."""
        body = {"templateId": self.template, "inputs": {"photo": source}, "callbackUrl": f"{self.slow}/hook"}
        answer = self.ask("POST", "/renders", json=body)
        if answer is not None and answer.status_code == 201:
            self.ended.wait(0.5)
            self.ask("POST", f"/renders/{answer.json()['jobId']}/cancel")

    def attacks(self) -> list[Callable[[], object]]:
        """One round of each attack."""
        scene = json.dumps(
            {"rootIds": ["r"], "nodes": [{"id": "r", "name": "R", "children": [], "components": []}]}
        ).encode()
        folders = zipped([(f"f{number}/scene.json", scene + b" " * 900_000) for number in range(500)])
        lists = zipped([("scene.json", b'{"nodes":[' + b"[]," * 10_000_000 + b"[]]}")])
        spaces = SVG.format(f"<style>a{{fill:url({' ' * 200_000}x)}}</style>").encode()
        nested = b'{"templateId":' + b"[" * 100 + b"]" * 100 + b',"inputs":{"a":[' + b"{}," * 3_000_000 + b"{}]}}"
        preset = {"name": "Large", "animationData": {"frames": ["x" * 1000] * 4000}}
        form = {"Content-Type": "multipart/form-data; boundary=x" + ";" * 900}
        return [
            lambda: self.ask("POST", "/assets", files={"file": ("a.svg", spaces)}),
            lambda: self.ask("POST", "/assets", content=b"--x\r\n\r\n", headers=form),
            lambda: self.ask("POST", "/templates/import", files={"file": ("a.motion", folders)}),
            lambda: self.ask("POST", "/templates/import", files={"file": ("b.motion", lists)}),
            lambda: self.ask("POST", "/renders", content=nested, headers={"Content-Type": "application/json"}),
            lambda: self.render(self.poison),
            lambda: self.render(f"{self.slow}/{time.monotonic_ns()}.png"),
            lambda: self.ask("POST", "/animations", json=preset) and self.ask("GET", "/animations"),
            lambda: self.ask("GET", "/renders?limit=100"),
            self.hold,
        ]

    def hold(self) -> None:
        """Open requests that never end, and send heads without end."""
        host = urlsplit(self.origin)
        assert host.hostname is not None and host.port is not None
        with ExitStack() as held:
            for number in range(PARTIAL_REQUESTS):
                try:
                    one = socket.create_connection((host.hostname, host.port), 5, (ADDRESS, 0))
                    held.enter_context(closing(one))
                    one.sendall(b"GET /api/health HTTP/1.1\r\nHost:" + b" x" * (200_000 if number % 50 == 0 else 1))
                except OSError:
                    self.statuses["closed"] += 1
            self.ended.wait(5)


@contextmanager
def attacking(hostile: Hostile) -> Iterator[None]:
    """Run all attacks at once while the block runs."""

    def repeat(attack: Callable[[], object]) -> None:
        while not hostile.ended.is_set():
            attack()

    threads = [threading.Thread(target=repeat, args=(attack,), daemon=True) for attack in hostile.attacks()]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        hostile.ended.set()
        for thread in threads:
            thread.join(90)
        hostile.tarpit.close()
        hostile.client.close()
