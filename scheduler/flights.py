"""Orders that this scheduler has given out and waits for. Memory only: what is lost with it is rescued by its leases' end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from farm_core.jobs.receipt import RenderedJob
from scheduler.ports import Order, SegmentOrder


@dataclass(slots=True)
class Flight:
    """An order at a worker. `lease` is the token of the task's lease; a straggler's second copy has a token of its own.

    `job` is what the receipt will name, where the order is an assembly.
    """

    order: Order
    lease: str
    worker_id: str
    started: float
    advanced: float
    frames_done: int = 0
    job: RenderedJob | None = None

    @property
    def is_copy(self) -> bool:
        """Whether this is a second copy of an order."""
        return self.order.token != self.lease


class Flights:
    """The flights by their tokens."""

    def __init__(self) -> None:
        self._by_token: dict[str, Flight] = {}

    def __len__(self) -> int:
        return len(self._by_token)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._by_token.values()))

    def add(self, flight: Flight) -> None:
        """Takes note of an order that was given out."""
        self._by_token[flight.order.token] = flight

    def get(self, token: str) -> Flight | None:
        """The flight of a token, if it is still waited for."""
        return self._by_token.get(token)

    def land(self, token: str) -> Flight | None:
        """Ends the wait for one order."""
        return self._by_token.pop(token, None)

    def leases(self) -> set[str]:
        """The leases that are to be renewed."""
        return {flight.lease for flight in self._by_token.values()}

    def of_lease(self, lease: str) -> list[Flight]:
        """The order of a lease and its copy, as far as they are under way."""
        return [flight for flight in self._by_token.values() if flight.lease == lease]

    def copies_by_worker(self) -> Counter[str]:
        """How many second copies each worker has: the database does not count those."""
        return Counter(flight.worker_id for flight in self._by_token.values() if flight.is_copy)

    def frames_by_job(self) -> dict[str, int]:
        """Frames shown so far by the segments under way, the better of two copies counting once."""
        best: dict[str, tuple[str, int]] = {}
        for flight in self._by_token.values():
            if isinstance(flight.order, SegmentOrder):
                _, frames = best.get(flight.lease, ("", 0))
                best[flight.lease] = (flight.order.job_id, max(frames, flight.frames_done))
        totals: Counter[str] = Counter()
        for job_id, frames in best.values():
            totals[job_id] += frames
        return dict(totals)
