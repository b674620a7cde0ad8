"""Orders of stills that wait at this scheduler: accounts take turns, and none has more than its share under way."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from typing import Final

from farm_core.stills.exchange import StillOrder

ACCOUNT_WAITING_MAX: Final = 64
WAITING_MAX: Final = 512


class StillTurns:
    """Orders by account. An account that has waited longest without a turn comes first among those with the fewest under way."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[StillOrder]] = OrderedDict()
        self._under_way: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        """Return True if no more orders should be taken from Redis."""
        return sum(map(len, self._waiting.values())) >= WAITING_MAX

    def add(self, order: StillOrder) -> bool:
        """Let the order wait. Return False if its account has too many that wait."""
        orders = self._waiting.setdefault(order.subject.account_id, deque())
        if len(orders) >= ACCOUNT_WAITING_MAX:
            return False
        orders.append(order)
        return True

    def begin(self, account_max: int, now: float) -> StillOrder | None:
        """Return the next order, which is under way from now on, or None. `now` is on the clock of the deadlines.

        Orders that nobody waits for any longer are dropped. An account has at most `account_max` under way.
        """
        for account_id in sorted(self._waiting, key=lambda account: self._under_way[account]):
            orders = self._waiting[account_id]
            while orders and orders[0].deadline <= now:
                orders.popleft()
            if not orders:
                del self._waiting[account_id]
            elif self._under_way[account_id] < account_max:
                self._waiting.move_to_end(account_id)
                self._under_way[account_id] += 1
                return orders.popleft()
        return None

    def end(self, order: StillOrder) -> None:
        """The order is no longer under way."""
        account_id = order.subject.account_id
        self._under_way[account_id] -= 1
        if not self._under_way[account_id]:
            del self._under_way[account_id]
