from __future__ import annotations

import pytest

from farm_core.jobs.status import DeliveryStatus
from farm_core.webhooks.schedule import Outcome, outcome

DROPPED = Outcome(DeliveryStatus.dropped)


@pytest.mark.parametrize("status", [200, 204, 299])
def test_every_success_delivers(status: int) -> None:
    assert outcome(1, status) == outcome(3, status) == Outcome(DeliveryStatus.delivered)


@pytest.mark.parametrize("status", [400, 410, 499])
def test_a_refusal_is_final(status: int) -> None:
    assert outcome(1, status) == DROPPED


@pytest.mark.parametrize("status", [None, 301, 399, 500, 599])
def test_anything_else_is_tried_three_times_at_0_5_and_25_seconds(status: int | None) -> None:
    assert outcome(1, status) == Outcome(DeliveryStatus.due, 5.0)
    assert outcome(2, status) == Outcome(DeliveryStatus.due, 20.0)
    assert outcome(3, status) == DROPPED


def test_an_error_that_a_repeat_cannot_change_is_final() -> None:
    assert outcome(1, None, is_retryable=False) == DROPPED
