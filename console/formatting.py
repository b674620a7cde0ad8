"""Format times, sizes and counts for people. Relative times have the exact time as their title."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from markupsafe import Markup

from api.shapes import iso

COUNT_MAX: Final = 10_000
_STEPS: Final = ((86_400 * 365, "y"), (86_400 * 30, "mo"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_BYTES: Final = ("B", "kB", "MB", "GB", "TB")


def ago(moment: datetime | None, now: datetime) -> Markup:
    """Return a `<time>` element, such as *5 min ago*, with the exact time as its title."""
    if moment is None:
        return Markup('<span class="none">never</span>')
    seconds = (now - moment).total_seconds()
    text = "just now" if abs(seconds) < 1 else f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"
    return Markup('<time datetime="{}" title="{}" data-relative>{}</time>').format(iso(moment), _exact(moment), text)


def exact(moment: datetime) -> Markup:
    """Return a `<time>` element to the second, such as *23 Nov 2026, 18:20:05 UTC*. Scripts show it in the viewer's zone."""
    return Markup('<time datetime="{}" data-exact>{}</time>').format(iso(moment), _exact(moment))


def _exact(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")


def clock(moment: datetime) -> str:
    """Return the time of day to a tenth of a second, such as *18:20:05.3 UTC*."""
    return f"{moment.astimezone(UTC):%H:%M:%S}.{moment.microsecond // 100_000} UTC"


def span(seconds: float) -> str:
    """Return a duration in its largest unit, such as *3 min*."""
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "0 s"


def duration(ms: float | None) -> str:
    """Return a measured duration, such as *840 ms*, *4.2 s* or *3 min 5 s*, or a dash for None."""
    if ms is None:
        return "–"
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{int(ms // 60_000)} min {int(ms % 60_000 // 1000)} s"


def size(count: float | None) -> str:
    """Return bytes in their largest decimal unit."""
    if count is None:
        return "–"
    for unit in _BYTES:
        if abs(count) < 1000 or unit == _BYTES[-1]:
            return f"{count:.0f} {unit}" if unit == "B" or abs(count) >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def number(value: float | None) -> str:
    """Return a number with thin separators and at most one decimal, or a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:,.1f}"


def capped(count: int) -> str:
    """Return a count that stops at a cap: *10,000+* above it."""
    return f"{COUNT_MAX:,}+" if count > COUNT_MAX else f"{count:,}"


def minutes(ms: float | None) -> str:
    """Return milliseconds as minutes, to a hundredth."""
    return "–" if ms is None else f"{ms / 60_000:,.2f}".rstrip("0").rstrip(".") + " min"


def pixels(value: float) -> str:
    """Return a width or height without separators."""
    return f"{value:g}"


def plural(count: int, word: str) -> str:
    """Return a count with its noun, such as *1 render* or *10,000+ renders*."""
    return f"{capped(count)} {word}{'' if count == 1 else 's'}"


def seconds(value: float) -> str:
    """Return a length in seconds, such as *12.5 s*."""
    return f"{value:g} s" if value < 60 else duration(value * 1000)


def formed(moment: datetime, form: str) -> str:
    """Return a time in UTC in a `strftime` format."""
    return moment.astimezone(UTC).strftime(form)


def attempt(record: Mapping[str, Any]) -> str:
    """Return the result of a webhook attempt, such as *answered 503 after 120 ms*."""
    if record.get("begun"):
        return "under way"
    status, error = record.get("status"), record.get("error")
    answer = str(error).rstrip(".") if status is None else f"answered {status}{f' ({error})' if error else ''}"
    return answer if record.get("ms") is None else f"{answer} after {duration(record['ms'])}"


def pretty(value: Any) -> str:
    """Return JSON on several lines."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def plain(value: Any) -> str:
    """Return a text as it is, texts with commas, and any other value as JSON."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def as_query(inputs: Mapping[str, Any], output: Mapping[str, str]) -> str:
    """Return the playground's query string for the inputs and output of a render."""
    return urlencode({f"input.{name}": str(value) for name, value in inputs.items()} | dict(output))


def as_address(values: Mapping[str, str]) -> str:
    """Return the non-empty values as a query string with its question mark."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"?{query}" if query else ""


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "ago": ago, "exact": exact, "clock": clock, "duration": duration, "size": size, "number": number,
    "minutes": minutes, "plural": plural, "seconds": seconds, "iso": iso, "moment": formed, "pixels": pixels,
    "tojson_pretty": pretty, "plain": plain, "attempt": attempt, "parsed": datetime.fromisoformat, "as_query": as_query, "as_address": as_address,
}  # fmt: skip
