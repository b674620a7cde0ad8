"""Follow a render from its request to the stages of its segments, in traces and in the logs of every process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.scaling import scene
from examples.documents import bundle
from tests.acceptance.farm import ROOT, ProcessFarm, imported, process_farm, uploaded
from tests.acceptance.hooks import hook
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.acceptance]

REQUEST_ID = "req-traced-0001"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE_ID}-b7ad6b7169203331-01"


@dataclass
class Collector:
    """OTLP receiver that collects spans with their service."""

    endpoint: str
    spans: list[tuple[str, Span]] = field(default_factory=list)

    def of_trace(self, trace_id: str) -> list[tuple[str, Span]]:
        """Return the spans of one trace."""
        return [(service, span) for service, span in self.spans if span.trace_id.hex() == trace_id]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Receive spans on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in request.resource_spans:
                service = next(a.value.string_value for a in resource.resource.attributes if a.key == "service.name")
                received.spans += [(service, span) for scope in resource.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[ProcessFarm]:
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with process_farm(tmp_path_factory.mktemp("traced"), "--workers", "1", settings=settings) as running_farm:
        yield running_farm


@pytest.fixture(scope="module")
def job_id(farm: ProcessFarm) -> Iterator[str]:
    """Render two segments with a webhook, from a traced client; return the job id."""
    logo = uploaded(farm, ROOT / "examples" / "media" / "logo.png")
    template = imported(farm, bundle(scene(2)))
    with hook() as receiver:
        created = farm.call(
            "POST", "/renders", json={"templateId": template, "inputs": {"logo": logo, "caption": "Traced"},
            "output": {"width": 160, "height": 90, "fps": 30}, "callbackUrl": receiver.url},
            headers={"X-Request-Id": REQUEST_ID, "traceparent": TRACEPARENT},
        )  # fmt: skip
        assert farm.ended(created["jobId"])["status"] == "completed"
        eventually(lambda: bool(receiver.webhooks))
        yield str(created["jobId"])


def eventually(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while not found():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


def test_a_trace_leads_from_the_callers_span_to_the_stages_of_each_segment(collector: Collector, job_id: str) -> None:
    eventually(lambda: {"assembly", "webhook"} <= {span.name for _, span in collector.of_trace(TRACE_ID)})
    spans = collector.of_trace(TRACE_ID)
    services = {span.name: service for service, span in spans}
    assert services["POST /api/v1/renders"] == "render-farm-api"
    assert services["prepare"] == services["ingest"] == services["plan"] == "render-farm-scheduler"
    assert services["webhook"] == "render-farm-scheduler"
    assert services["segment"] == services["assembly"] == services["encode"] == "render-farm-worker"
    by_id = {span.span_id: span for _, span in spans}
    request = next(span for _, span in spans if span.name == "POST /api/v1/renders")
    assert request.parent_span_id.hex() == "b7ad6b7169203331"
    for _, span in spans:
        if span.name in ("prepare", "segment", "assembly", "webhook"):
            assert by_id[span.parent_span_id] is request
            assert {a.key: a.value.string_value for a in span.attributes}["farm.job_id"] == job_id
    segments = [span for _, span in spans if span.name == "segment"]
    for segment in segments:
        stages = {span.name for _, span in spans if span.parent_span_id == segment.span_id}
        assert {"evaluate", "draw", "encode", "store"} <= stages


def test_the_id_of_a_request_is_in_the_logs_of_its_scheduler_and_workers(farm: ProcessFarm, job_id: str) -> None:
    lines = worker_lines(farm)
    done = [line for line in lines if line.get("event") == "segment done"]
    assert done and all(line["request_id"] == REQUEST_ID and line["job_id"] == job_id for line in done)
    assert [line["request_id"] for line in lines if line.get("event") == "assembly done"] == [REQUEST_ID]
    assert REQUEST_ID in farm.command("jobs", "show", job_id)
    eventually(lambda: bool(posted(farm)))  # the scheduler logs it after the receiver has it
    assert posted(farm) == [(job_id, REQUEST_ID)]


def posted(farm: ProcessFarm) -> list[tuple[object, object]]:
    """Return job and request id of the webhooks that the scheduler has logged."""
    logged = (farm.data / "logs" / "scheduler-1.log").read_text().splitlines()
    lines = [json.loads(line) for line in logged if line.startswith("{") and line.endswith("}")]
    return [(line["job_id"], line["request_id"]) for line in lines if line.get("event") == "webhook"]


def worker_lines(farm: ProcessFarm) -> list[dict[str, object]]:
    """Return the worker's log lines from the place that the manual names."""
    found: list[dict[str, object]] = []
    for log in (farm.data / "logs" / "workers").glob("worker-*.err"):
        found += [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return found
