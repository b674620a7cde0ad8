"""Traces of renders, from the request to the stages of a segment, sent with OpenTelemetry (OTLP over HTTP).

Traces are off unless an endpoint is set. The context of the creating request follows the job: as `traceparent` (W3C
Trace Context) in its row, and in every assignment. The SDK itself reads the other standard variables (sampler,
headers, batch sizes).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, NoOpTracer, Span, SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from farm_core.settings import Settings
from farm_core.telemetry import logs

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_PROPAGATOR: Final = TraceContextTextMapPropagator()
_NAME: Final = "render-farm"


@dataclass(frozen=True, slots=True)
class TraceContext:
    """Origin of a job: id of the creating request, and W3C `traceparent` of its span."""

    request_id: str | None = None
    traceparent: str | None = None


UNKNOWN: Final = TraceContext()


class _Tracing:
    """Tracer of this process. Without an endpoint it creates no spans."""

    def __init__(self) -> None:
        self.tracer: Tracer = NoOpTracer()
        self.provider: TracerProvider | None = None


_tracing: Final = _Tracing()


def set_up(settings: Settings, part: str) -> None:
    """Start to send spans of this process if an endpoint is set. `part` is its name in the farm, such as `api`."""
    endpoint = _endpoint(settings)
    if endpoint is None or settings.otel_sdk_disabled or _tracing.provider is not None:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - only if on
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    name = settings.otel_service_name or f"{_NAME}-{part}"
    provider = TracerProvider(resource=Resource.create({"service.name": name, "farm.part": part}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
    _tracing.provider, _tracing.tracer = provider, provider.get_tracer(_NAME)


def shut_down() -> None:
    """Send the remaining spans. Call this if a process ends without its exit handlers."""
    if _tracing.provider is not None:
        _tracing.provider.shutdown()
    _tracing.provider, _tracing.tracer = None, NoOpTracer()


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Span]:
    """Create a span below the current one for a block. It costs almost nothing without tracing."""
    if _tracing.provider is None:
        yield INVALID_SPAN
        return
    with _tracing.tracer.start_as_current_span(name, attributes=_present(attributes)) as begun:
        yield begun


@contextmanager
def linked(name: str, traceparent: str | None, kind: SpanKind = SpanKind.INTERNAL, **attributes: Any) -> Iterator[Span]:
    """Create a span below one of another process, or start a new trace if there is no `traceparent`."""
    if _tracing.provider is None:
        yield INVALID_SPAN
        return
    parent = Context() if traceparent is None else _PROPAGATOR.extract({"traceparent": traceparent}, Context())
    with _tracing.tracer.start_as_current_span(name, parent, kind, _present(attributes)) as begun:
        yield begun


def stages(stages_ms: Mapping[str, float]) -> None:
    """Record the stages of the current span, which ends now: `evaluate`, `draw`, `encode` and so on.

    Stages overlap and repeat for each frame. Each stage gets a span that starts with the current one and lasts as
    long as the stage took in total.
    """
    if _tracing.provider is None:
        return
    began = getattr(trace.get_current_span(), "start_time", None) or time.time_ns()
    for stage, milliseconds in stages_ms.items():
        attributes = {"farm.stage.total_ms": round(milliseconds, 3)}
        recorded = _tracing.tracer.start_span(stage, attributes=attributes, start_time=began)
        recorded.end(began + round(milliseconds * 1e6))


def current() -> TraceContext:
    """Return the current request and span."""
    if _tracing.provider is None:
        return TraceContext(logs.request_id())
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return TraceContext(logs.request_id(), carrier.get("traceparent"))


def _endpoint(settings: Settings) -> str | None:
    if settings.otel_exporter_otlp_traces_endpoint is not None:
        return settings.otel_exporter_otlp_traces_endpoint
    base = settings.otel_exporter_otlp_endpoint
    return None if base is None else f"{base.rstrip('/')}/v1/traces"


def _present(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {f"farm.{name}": value for name, value in attributes.items() if value is not None}
