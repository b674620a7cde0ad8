"""Logs: one JSON object per line, without secrets. `request_id` and `job_id` connect the lines of all parts."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import MutableMapping
from typing import Any, Final

from farm_core.optional_libraries import without
from farm_core.terminal import harmless

with without("rich"):  # it would format tracebacks of local variables
    import structlog

_SECRET_NAMES: Final = re.compile(r"authorization|secret|token|password|api_key|cookie", re.IGNORECASE)
_SECRET_VALUES: Final = re.compile(
    r"pm_live_[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"
    r"|(?<=signature=)[^&\s\"']+|(?<=X-Amz-Signature=)[^&\s\"']+|(?<=://)[^/\s@]+:[^/\s@]+(?=@)",
    re.IGNORECASE,
)
REPEAT_SECONDS: Final = 60.0
"""Time for which an equal failure is not logged again: without a store, the log would fill the disk overnight."""
HIDDEN: Final = "[hidden]"

bind = structlog.contextvars.bind_contextvars
bound = structlog.contextvars.bound_contextvars


def set_up(level: str = "INFO", *, human: bool | None = None) -> None:
    """Send all logs of the process, including those of libraries, to standard error: JSON, or lines for
    people on a terminal and if `human`."""
    human = sys.stderr.isatty() if human is None else human
    before: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_secrets,
    ]
    line = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        if human
        else structlog.processors.JSONRenderer()
    )
    shaping = [_fit_for_terminal, line] if human else [line]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shaping]
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "botocore", "boto3", "urllib3", "s3transfer", "alembic", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    processors = structlog.get_config()["processors"]  # changed in place, because loggers in use keep this list
    processors[:] = [*before, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger: `log.info("what happened", job_id=..., frames=...)`."""
    found: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return found


class OnceAMinute:
    """Allows a log line once a minute that would repeat many times a second while a store is away."""

    def __init__(self) -> None:
        self._next = 0.0

    def is_due(self) -> bool:
        """Return True at most once a minute."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + REPEAT_SECONDS
        return True


def request_id() -> str | None:
    """Return the id of the current request, or None."""
    found: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return found


def in_a_line(error: BaseException) -> str:
    """Return an error for the log: its type and the first line of its message."""
    message = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def scrubbed(text: str) -> str:
    """Return the text without keys, tokens, signatures, and passwords in URLs."""
    return _SECRET_VALUES.sub(HIDDEN, text)


def _without_secrets(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = HIDDEN if _SECRET_NAMES.search(name) else _scrubbed_value(value)
    return event


def _fit_for_terminal(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Indent the further lines of a text, so that none looks like a log line, and remove terminal control characters."""
    return {
        name: harmless(value).replace("\n", "\n    ") if isinstance(value, str) else value
        for name, value in event.items()
    }


def _scrubbed_value(value: Any) -> Any:
    if isinstance(value, str):
        return scrubbed(value)
    if isinstance(value, dict):
        return {
            name: HIDDEN if _SECRET_NAMES.search(str(name)) else _scrubbed_value(one) for name, one in value.items()
        }
    return [_scrubbed_value(one) for one in value] if isinstance(value, list | tuple) else value
