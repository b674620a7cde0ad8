"""Bars of charts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.charts import Chart
from console.pages import environment
from farm_core.statistics.repository import Bar
from tests.console.filled import farm
from tests.console.people import Person

START = datetime(2026, 11, 27, tzinfo=UTC)


pytestmark = [pytest.mark.filterwarnings("default")]


def test_one_failure_is_seen_beside_thousands_of_renders() -> None:
    hour = timedelta(hours=1)
    chart = Chart([Bar(START, 6000, 3, 1), Bar(START + hour, 0, 1, 0), Bar(START + 2 * hour)], hour)
    full, single, empty = (chart.heights(bar) for bar in chart.bars)
    assert 90 < full[0] < 98 and min(full) >= 2 and sum(full) <= 100
    assert single == (0, 2, 0) and empty == (0, 0, 0)
    shown = str(environment().get_template("parts/macros.html").module.chart(chart, "Renders", "%H"))  # type: ignore[attr-defined]
    assert shown.count('class="failed"') == 2 and 'height="2.0"' in shown


def test_times_are_those_of_the_viewers_zone(operator: Person, window: Callable[..., Any]) -> None:
    job = farm(operator)["queued"]
    page = window(operator, timezone_id="Asia/Kathmandu")
    page.goto(f"{operator.origin}/console/renders/{job}")
    assert page.locator("time[data-relative]").first.get_attribute("title").endswith(" GMT+5:45")
    page.goto(f"{operator.origin}/console/")
    minutes = page.locator(".axis span").evaluate_all("all => all.map(one => one.textContent.slice(-2))")
    assert minutes[3] == minutes[5] == "45"
    assert ":45: 0 completed" in page.locator(".chart").last.locator("title").first.text_content()
