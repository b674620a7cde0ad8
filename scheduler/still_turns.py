"""Queue of still requests at this scheduler. Accounts take turns, and each account has a limited number in progress."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Container
from typing import Final

from farm_core.stills.exchange import QueuedStill

ACCOUNT_WAITING_MAX: Final = 64
WAITING_MAX: Final = 512


class StillTurns:
    """Waiting requests by account. Among the accounts with the fewest requests in progress, the one that waited
    longest is next."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[QueuedStill]] = OrderedDict()
        self._under_way: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        """Return True if no more requests can be taken from Redis."""
        return sum(map(len, self._waiting.values())) >= WAITING_MAX

    def add(self, request: QueuedStill) -> bool:
        """Queue the request. Return False if its account has too many waiting requests."""
        requests = self._waiting.setdefault(request.subject.account_id, deque())
        if len(requests) >= ACCOUNT_WAITING_MAX:
            return False
        requests.append(request)
        return True

    def begin(
        self, account_max: int, now: float, slow: Container[str] = frozenset(), slow_max: int = 1
    ) -> QueuedStill | None:
        """Start and return the next request, or return None. `now` is on the clock of the deadlines.

        Requests whose caller no longer waits are dropped. An account has at most `account_max` requests in progress, and
        the `slow` accounts have `slow_max` together.
        """
        has_slow_room = sum(count for account, count in self._under_way.items() if account in slow) < slow_max
        for account_id in sorted(self._waiting, key=lambda account: self._under_way[account]):
            requests = self._waiting[account_id]
            while requests and requests[0].deadline <= now:
                requests.popleft()
            if not requests:
                del self._waiting[account_id]
            elif self._under_way[account_id] < account_max and (has_slow_room or account_id not in slow):
                self._waiting.move_to_end(account_id)
                self._under_way[account_id] += 1
                return requests.popleft()
        return None

    def end(self, request: QueuedStill) -> None:
        """Remove a request from those in progress."""
        account_id = request.subject.account_id
        self._under_way[account_id] -= 1
        if not self._under_way[account_id]:
            del self._under_way[account_id]
