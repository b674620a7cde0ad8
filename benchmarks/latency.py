"""Time until one short render is complete, and its parts: the 3 s title card at 720p, on an idle, warm farm.

The farm sends its traces to this process, so every step is the farm's own record. Progress and the end are taken from the
changes that the farm publishes, because a caller that polls uses the cores that the render needs.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import av
import httpx
import orjson
import redis
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.farm import TITLE_CARD, UNLIMITED, client_of, imported, local_farm, uploaded
from benchmarks.service.processor_time import children_seconds
from farm_core import running
from farm_core.progress.store import channel
from gpu_renderer.commands.options import default_session_options
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.encode.segments import SegmentWriter
from gpu_renderer.session import OpenDocument, Output, RenderSession
from motion.bundle import read_file

COMPLETED_MS_MAX: Final = 600.0
PROGRESS_MS_MAX: Final = 150.0
REPEAT_MS_MAX: Final = 40.0
PAUSE_SECONDS: Final = 0.5
"""Pause between two renders, so that none overlaps the end of the previous one."""
WARM_RENDERS: Final = 5
EXPORT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of a trace: its name, its process's part of the farm, and when it was, seconds since 1970."""

    name: str
    began: float
    ended: float


@dataclass(slots=True)
class _Render:
    """One render from its caller's view: times in seconds since 1970, processor seconds of the whole farm."""

    job_id: str
    posted: float
    answered: float
    completed: float = 0.0
    processing: float = 0.0
    """When its state changed to processing."""
    first_frames: float = 0.0
    """When its first finished frames were published; 0 for a repeat."""
    cpu_seconds: float = 0.0
    spans: list[_Span] = field(default_factory=list)

    @property
    def milliseconds(self) -> float:
        """From POST to completed."""
        return 1000 * (self.completed - self.posted)


class _Traces:
    """Receive the spans of all parts of the farm, by the job that they name."""

    def __init__(self) -> None:
        self._by_trace: dict[bytes, list[_Span]] = defaultdict(list)
        self._traces: dict[str, bytes] = {}
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._take))
        self._server = server
        self.endpoint = f"http://127.0.0.1:{server.server_port}/v1/traces"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop receiving."""
        self._server.shutdown()
        self._server.server_close()

    def of(self, job_id: str) -> list[_Span]:
        """Return the spans of the job's trace that have arrived."""
        return list(self._by_trace[self._traces[job_id]]) if job_id in self._traces else []

    def _take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for group in request.resource_spans:
            for one in (span for scope in group.scope_spans for span in scope.spans):
                began, ended = one.start_time_unix_nano / 1e9, one.end_time_unix_nano / 1e9
                self._by_trace[one.trace_id].append(_Span(one.name, began, ended))
                for attribute in one.attributes:
                    if attribute.key == "farm.job_id":
                        self._traces[attribute.value.string_value] = one.trace_id


def _handler(take: Any) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write no log."""

    return Handler


class _Caller:
    """Create renders of the title card and follow their published changes."""

    def __init__(self, client: httpx.Client, changes: redis.Redis) -> None:
        self._client = client
        template, logo = imported(client, TITLE_CARD.read_bytes()), uploaded(client)
        inputs = client.get(f"/templates/{template}").raise_for_status().json()["inputs"]
        self._texts = [one["id"] for one in inputs if one["kind"] == "text"]
        pictures = dict.fromkeys((one["id"] for one in inputs if one["kind"] in ("image", "media")), logo)
        self._body: dict[str, Any] = {
            "templateId": template,
            "inputs": pictures,
            "output": {"width": 1280, "height": 720},
        }
        self._changes = changes.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._changes.psubscribe(channel("*"))
        self._changes.get_message(timeout=1.0)

    def rendered(self, text: str) -> _Render:
        """Render the card with this text and wait for its end. The same text again is a repeat."""
        time.sleep(PAUSE_SECONDS)
        body = {**self._body, "inputs": self._body["inputs"] | dict.fromkeys(self._texts, text)}
        cpu, posted = children_seconds(), time.time()
        job_id = str(self._client.post("/renders", json=body).raise_for_status().json()["jobId"])
        render = _Render(job_id, posted, time.time())
        while not render.completed:
            self._follow(render)
        job = self._client.get(f"/renders/{job_id}").raise_for_status().json()
        assert job["status"] == "completed", job
        render.cpu_seconds = children_seconds() - cpu
        return render

    def _follow(self, render: _Render) -> None:
        message = self._changes.get_message(timeout=60.0)
        if message is None:
            return
        change: Mapping[str, Any] = orjson.loads(message["data"])
        if change["job_id"] != render.job_id:
            return
        now = time.time()
        if change.get("status") == "processing":
            render.processing = now
        elif change.get("frames_done") and not render.first_frames:
            render.first_frames = now
        elif change.get("status") is not None:
            assert change["status"] == "completed", change
            render.completed = now


def _rows(quick: bool) -> Iterator[Row]:
    """New renders and repeats in turns, then the steps of the new ones."""
    count = 8 if quick else 30
    with _farm() as (caller, traces):
        for number in range(WARM_RENDERS):
            caller.rendered(f"Warm {number}")
        fresh, repeats = list[_Render](), list[_Render]()
        for number in range(count):
            fresh.append(caller.rendered(f"Card {number}"))
            repeats.append(caller.rendered(f"Card {number}"))
        _collect(fresh, traces)
    yield _row("new, POST to completed", [one.milliseconds for one in fresh], [one.cpu_seconds for one in fresh])
    yield _row("new, POST to processing", [1000 * (one.processing - one.posted) for one in fresh])
    yield _row("new, POST to first frames", [1000 * (one.first_frames - one.posted) for one in fresh])
    yield _row("repeat, POST to completed", [one.milliseconds for one in repeats], [one.cpu_seconds for one in repeats])
    steps = [_steps(one) for one in fresh]
    for name in steps[0]:
        yield _row(f"step: {name}", [step[name] for step in steps])
    yield from _fixed_costs(count)


def _fixed_costs(count: int) -> Iterator[Row]:
    """Return the cost of a segment apart from its frames: segments of one frame, and the encoder's part of that."""
    with RenderSession(default_session_options()) as session, tempfile.TemporaryDirectory() as folder:
        document = read_file(TITLE_CARD)
        path = Path(folder) / "segment.mp4"
        with session.open(document, Output(1280, 720), lambda _: None) as opened:
            session.render_segment(opened, 0, 60, path)
            segments = [_timed(lambda: session.render_segment(opened, 60, 1, path)) for _ in range(count)]
            frame = encoder_frame(layout(opened.width, opened.height))
            encoders = [_timed(lambda: _encode_one(session.profile, opened, frame, path)) for _ in range(count)]
    yield _row("fixed: a segment of one frame, in the renderer", segments)
    yield _row("fixed: of that, the encoder with one frame", encoders)


def _encode_one(profile: EncoderProfile, opened: OpenDocument, frame: av.VideoFrame, path: Path) -> None:
    with SegmentWriter(path, profile, opened.width, opened.height, opened.fps) as writer:
        writer.write(frame)
        writer.close()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


@contextmanager
def _farm() -> Iterator[tuple[_Caller, _Traces]]:
    """Run a temporary farm that sends its traces here. It is deleted after the block."""
    traces = _Traces()
    try:
        with local_farm(UNLIMITED | {"otel_exporter_otlp_traces_endpoint": traces.endpoint}) as (farm, settings):
            found = running.read(settings.data_folder)
            assert found is not None, "a started farm has told where its parts are"
            with (
                client_of(farm, settings, "bench") as client,
                redis.Redis.from_url(found.redis_url) as changes,
            ):
                yield _Caller(client, changes), traces
    finally:
        traces.close()


def _collect(renders: Sequence[_Render], traces: _Traces) -> None:
    """Wait until all spans have arrived. Each process sends its spans every few seconds."""
    deadline = time.monotonic() + EXPORT_SECONDS
    for render in renders:
        while not {"prepare", "segment", "assembly"} <= {span.name for span in traces.of(render.job_id)}:
            assert time.monotonic() < deadline, f"spans of {render.job_id} are missing"
            time.sleep(0.2)
        render.spans = traces.of(render.job_id)


def _steps(render: _Render) -> dict[str, float]:
    """Return the milliseconds of each step, in order; those from `API` to `end` add up to the whole."""
    spans = defaultdict[str, list[_Span]](list)
    for span in render.spans:
        spans[span.name].append(span)
    segments, (assembly,) = spans["segment"], spans["assembly"]
    (prepared,), (ingested,), (planned,) = spans["prepare"], spans["ingest"], spans["plan"]
    began, done = min(one.began for one in segments), max(one.ended for one in segments)
    moments = {
        "API": render.answered, "claim": prepared.began, "media (ingest)": ingested.ended, "plan": planned.ended,
        "dispatch and actor call": began, "segments": done, "dispatch of the assembly": assembly.began,
        "assembly": assembly.ended, "end": render.completed,
    }  # fmt: skip
    before, steps = render.posted, dict[str, float]()
    for name, moment in moments.items():
        steps[name], before = 1000 * (moment - before), moment
    stages = ("key", "evaluate", "draw", "convert", "encode", "mux", "store")
    sums = {f"in segments: {name}": 1000 * sum(one.ended - one.began for one in spans[name]) for name in stages}
    wall = 1000 * sum(one.ended - one.began for one in segments)
    return {**steps, "in segments: all, added up": wall, **sums}


def _row(what: str, milliseconds: Sequence[float], cpu_seconds: Sequence[float] | None = None) -> Row:
    """A row of figures. `cpu_ms` is the processor time of the whole farm for one render, if it is known."""
    return {
        "what": what,
        "p50_ms": round(statistics.median(milliseconds), 1),
        "p95_ms": round(quantile(milliseconds, 0.95), 1),
        "cpu_ms": "" if cpu_seconds is None else round(1000 * statistics.median(cpu_seconds)),
    }


def _advice(rows: Sequence[Row]) -> str:
    limits = {
        "new, POST to completed": COMPLETED_MS_MAX,
        "new, POST to first frames": PROGRESS_MS_MAX,
        "repeat, POST to completed": REPEAT_MS_MAX,
    }
    slow = [row["what"] for row in rows if row["p50_ms"] > limits.get(row["what"], float("inf"))]
    return f"Over their limit at the median: {', '.join(slow) or 'none'}."


BENCHMARK = Benchmark(
    "How soon is a short render complete on an idle farm, and where does the time go?",
    _rows, label="what", bar="p50_ms", limit=COMPLETED_MS_MAX, advice=_advice,
)  # fmt: skip
