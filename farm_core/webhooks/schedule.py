"""Schedule of a webhook's attempts, and the meaning of answers (interface, Events). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farm_core.jobs.status import DELIVERY_EDGES, DeliveryStatus

TIMES_SECONDS: Final = (0.0, 5.0, 25.0)
"""Start times of the attempts after the first one. If an attempt takes longer, the next one follows at once."""

TIMEOUT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an attempt: status of the delivery, and delay until the next attempt, if any."""

    status: DeliveryStatus
    after_seconds: float = 0.0


def outcome(attempt: int, answer: int | None, *, is_retryable: bool = True) -> Outcome:
    """Return the outcome of attempt `attempt` (from 1). `answer` is the HTTP status, or None if there is none.

    2xx is delivered. 4xx is final, like any failure that another attempt cannot change (`is_retryable=False`). Everything
    else is retried.
    """
    if answer is not None and 200 <= answer < 300:
        return Outcome(DELIVERY_EDGES[DeliveryStatus.due, "deliver"])
    final = not is_retryable or (answer is not None and 400 <= answer < 500)
    if final or attempt >= len(TIMES_SECONDS):
        return Outcome(DELIVERY_EDGES[DeliveryStatus.due, "drop"])
    pause = TIMES_SECONDS[attempt] - TIMES_SECONDS[attempt - 1]
    return Outcome(DELIVERY_EDGES[DeliveryStatus.due, "retry"], pause)
