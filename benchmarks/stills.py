"""Time until a changed preview is there: a text changes, and the frame is drawn at 640 px, as the playground asks for it.

In the last phase, title cards render one after another, to measure the cost of previews for renders too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import httpx

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.farm import client_of, imported, local_farm, seconds_of_render, uploaded
from cluster.local.farm import LocalFarm
from farm_core.long_steps import repeating
from farm_core.settings import ROOT

WIDTH: Final = 640
P50_MS_MAX: Final = 300.0
PAUSE_SECONDS: Final = 0.25
"""Between two changes, as a person makes them."""
EXAMPLES: Final = ("title-card", "lower-third", "product-promo")


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each example, then renders with and without previews beside them."""
    count = 10 if quick else 40
    settings = {"stills_per_minute": 1_000_000, "automation_allow_private_assets": True}
    with local_farm(settings) as (farm, chosen), client_of(farm, chosen, "designer") as client:
        previews = [_Preview(farm, client, example) for example in EXAMPLES]
        for preview in previews:
            yield {"what": f"{preview.name}, preview", **_figures(preview.times(count))}
        yield from _beside(previews[0], previews[-1], count)


class _Preview:
    """A template whose texts change before each frame."""

    def __init__(self, farm: LocalFarm, client: httpx.Client, name: str) -> None:
        self.farm, self.client, self.name = farm, client, name
        self.template = imported(client, (ROOT / "examples" / f"{name}.motion").read_bytes())
        self.inputs: dict[str, str] = {}
        self.texts: list[str] = []
        self.shown = b""
        shown = client.get(f"/templates/{self.template}").raise_for_status().json()
        self.seconds = shown["durationSeconds"]
        for one in shown["inputs"]:
            if one["kind"] == "text":
                self.texts.append(one["id"])
            elif one["kind"] in ("image", "media"):
                self.inputs[one["id"]] = uploaded(client, "footage.mp4" if one["kind"] == "media" else "logo.png")

    def times(self, count: int) -> list[float]:
        """Milliseconds from request to picture, for so many changes; two changes before them warm the worker up."""
        return [self.milliseconds(number) for number in range(-2, count)][2:]

    def milliseconds(self, number: int) -> float:
        """Return the milliseconds of one preview after a change."""
        time.sleep(PAUSE_SECONDS)
        changed = dict.fromkeys(self.texts, f"Change {number} {time.monotonic_ns()}")
        moment = self.seconds * (number % 7 + 1) / 9
        body = {"inputs": self.inputs | changed, "time": moment, "width": WIDTH, "format": "jpeg"}
        began = time.perf_counter()
        answer = self.client.post(f"/templates/{self.template}/still", json=body)
        took = (time.perf_counter() - began) * 1000
        assert answer.status_code == 200 and answer.content != self.shown, answer.text
        self.shown = answer.content
        return took

    def rendered_seconds(self, number: int) -> float:
        """Return the seconds from the creation of a 720p render to its end."""
        body: dict[str, Any] = {
            "templateId": self.template, "output": {"width": 1280, "height": 720},
            "inputs": self.inputs | dict.fromkeys(self.texts, f"Render {number} {time.monotonic_ns()}"),
        }  # fmt: skip
        return seconds_of_render(self.farm, self.client, body)


def _beside(rendered: _Preview, previewed: _Preview, count: int) -> Iterator[Row]:
    """Title cards in a row, alone and beside previews, in turns."""
    alone, beside, previews = list[float](), list[float](), list[float]()
    rendered.rendered_seconds(-1)
    for turn in range(max(2, count // 4)):
        alone.append(1000 * rendered.rendered_seconds(2 * turn))
        with repeating(lambda: previews.append(previewed.milliseconds(len(previews)))):
            beside.append(1000 * rendered.rendered_seconds(2 * turn + 1))
    yield {"what": f"{rendered.name}, render alone", **_figures(alone)}
    yield {"what": f"{rendered.name}, render beside previews", **_figures(beside)}
    yield {"what": f"{previewed.name}, preview beside a render", **_figures(previews)}


def _figures(times: Sequence[float]) -> Row:
    return {
        "p50_ms": round(statistics.median(times)),
        "p95_ms": round(quantile(times, 0.95)),
        "count": len(times),
    }


def _advice(rows: Sequence[Row]) -> str:
    slow = [row["what"] for row in rows if row["what"].endswith(", preview") and row["p50_ms"] > P50_MS_MAX]
    return f"Over {P50_MS_MAX:g} ms at the median: {', '.join(slow) or 'none'}."


BENCHMARK = Benchmark(
    "How soon is a preview at 640 px there after a change, and what do previews cost a render beside them?",
    _rows, label="what", bar="p50_ms", limit=P50_MS_MAX, advice=_advice,
)  # fmt: skip
