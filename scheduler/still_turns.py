"""Queue of still requests at this scheduler. Accounts take turns, and each account has a limited number in progress."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from farm_core.stills.exchange import QueuedStill

ACCOUNT_WAITING_MAX: Final = 64
WAITING_MAX: Final = 512


@dataclass(slots=True, eq=False)
class WaitingStill:
    """A request, and the preparation of its document once that has begun."""

    request: QueuedStill
    preparing: asyncio.Task[Any] | None = None

    @property
    def account_id(self) -> str:
        """Return the account that asks."""
        return self.request.subject.account_id


class StillTurns:
    """Waiting requests by account. Among the accounts with the fewest requests in progress, the one that waited
    longest is next."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[WaitingStill]] = OrderedDict()
        self.under_way: Counter[str] = Counter()
        """Number of requests in progress, by account."""

    def add(self, still: WaitingStill) -> WaitingStill | None:
        """Queue the request. Return the oldest one of its account, or of the account with the most, if it had to leave: its caller has
        probably asked for a newer picture."""
        own = self._waiting.setdefault(still.account_id, deque())
        own.append(still)
        if len(own) > ACCOUNT_WAITING_MAX:
            return own.popleft()
        if sum(map(len, self._waiting.values())) > WAITING_MAX:
            return max(self._waiting.values(), key=len).popleft()
        return None

    def add_first(self, still: WaitingStill) -> None:
        """Queue a request again that had its turn, before the others of its account."""
        self._waiting.setdefault(still.account_id, deque()).appendleft(still)

    def begin(self, now: float, at_once: Callable[[str], int]) -> WaitingStill | None:
        """Start and return the next request, or return None. `now` is on the clock of the deadlines.

        Requests whose caller no longer waits are dropped. An account has at most `at_once(account_id)` requests in progress.
        """
        for account_id in sorted(self._waiting, key=lambda account: self.under_way[account]):
            stills = self._waiting[account_id]
            while stills and stills[0].request.deadline <= now:
                stills.popleft()
            if not stills:
                del self._waiting[account_id]
            elif self.under_way[account_id] < at_once(account_id):
                self._waiting.move_to_end(account_id)
                self.under_way[account_id] += 1
                return stills.popleft()
        return None

    def end(self, still: WaitingStill) -> None:
        """Remove a request from those in progress."""
        self.under_way[still.account_id] -= 1
        if not self.under_way[still.account_id]:
            del self.under_way[still.account_id]
