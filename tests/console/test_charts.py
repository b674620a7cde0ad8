"""Bars of charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from console.charts import Chart
from console.pages import environment
from farm_core.statistics.repository import Bar

START = datetime(2026, 11, 27, tzinfo=UTC)


def test_one_failure_is_seen_beside_thousands_of_renders() -> None:
    hour = timedelta(hours=1)
    chart = Chart([Bar(START, 6000, 3, 1), Bar(START + hour, 0, 1, 0), Bar(START + 2 * hour)], hour)
    full, single, empty = (chart.heights(bar) for bar in chart.bars)
    assert 90 < full[0] < 98 and min(full) >= 2 and sum(full) <= 100
    assert single == (0, 2, 0) and empty == (0, 0, 0)
    shown = str(environment().get_template("parts/macros.html").module.chart(chart, "Renders", "%H"))  # type: ignore[attr-defined]
    assert shown.count('class="failed"') == 2 and 'height="2.0"' in shown
