"""Resolve host names, and check every address.

c-ares resolves names in the event loop, so slow name servers block no threads. Concurrent look-ups of each account
are limited (`AccountLookups`).
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakKeyDictionary

import aiodns

from farm_core.net.addresses import UrlRefused, checked_target, is_public, number_host

RESOLVE_SECONDS: Final = (5.0, 15.0)
"""Time limit of a look-up, and of its repetition after a timeout."""

LOOKUPS_PER_ACCOUNT: Final = 4
_TIMED_OUT: Final = frozenset({aiodns.error.ARES_ETIMEOUT, aiodns.error.ARES_ECANCELLED})


class NameUnknown(OSError):
    """The name has no address."""


Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Function that returns the addresses of a host and port. Raises OSError (TimeoutError if no server answered in
time)."""

_channels: WeakKeyDictionary[asyncio.AbstractEventLoop, aiodns.DNSResolver] = WeakKeyDictionary()


async def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses from the machine's name servers and hosts file, in order, without repeats."""
    return await _addresses(host, port, RESOLVE_SECONDS[0])


async def patient_resolver(host: str, port: int) -> list[str]:
    """Call `system_resolver`. After a timeout, try again with a longer one."""
    try:
        return await _addresses(host, port, RESOLVE_SECONDS[0])
    except TimeoutError:
        return await _addresses(host, port, RESOLVE_SECONDS[1])


class AccountLookups:
    """Resolvers of accounts. Each account can look up LOOKUPS_PER_ACCOUNT names at once; further look-ups wait."""

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._gates: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(LOOKUPS_PER_ACCOUNT))
        self._users: dict[str, int] = defaultdict(int)

    def of(self, account_id: str) -> Resolver:
        """Return the account's resolver."""

        async def resolve(host: str, port: int) -> list[str]:
            self._users[account_id] += 1
            try:
                async with self._gates[account_id]:
                    return await self._resolve(host, port)
            finally:
                self._users[account_id] -= 1
                if not self._users[account_id]:
                    del self._users[account_id], self._gates[account_id]

        return resolve


async def _addresses(host: str, port: int, seconds: float) -> list[str]:
    try:
        async with asyncio.timeout(seconds):
            found = await _channel().getaddrinfo(host, family=socket.AF_UNSPEC, port=port, type=socket.SOCK_STREAM)
    except aiodns.error.DNSError as error:
        if error.args and error.args[0] in _TIMED_OUT:
            raise TimeoutError("no name server answered in time") from error
        raise NameUnknown("the name is not known") from error
    return list(dict.fromkeys(_text(node.addr[0]) for node in found.nodes))


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address


def _channel() -> aiodns.DNSResolver:
    """Return the event loop's c-ares channel."""
    loop = asyncio.get_running_loop()
    if loop not in _channels:
        _channels[loop] = aiodns.DNSResolver(loop=loop, timeout=4.0, tries=3)
    return _channels[loop]


async def checked_addresses(host: str, port: int, *, allow_private: bool, resolve: Resolver) -> list[str]:
    """Return the host's addresses if all of them are allowed. Raises UrlRefused, or OSError if there is none."""
    spelled = number_host(host)
    addresses = [str(spelled)] if spelled is not None else await resolve(host, port)
    if not addresses:
        raise OSError("no address")
    if not allow_private and not all(map(is_public, addresses)):
        raise UrlRefused("The host resolves to a private address.")
    return addresses


async def url_fault(
    url: object, *, allow_private: bool, resolve: Resolver = system_resolver, setting: str | None = None
) -> str | None:
    """Return the reason why the URL cannot be used, or None. An unknown name is no fault, because it is checked again
    on use.

    `setting` is the variable that allows private addresses; the reason names it if that is the only problem.
    """
    if not isinstance(url, str):
        return "must be a string"
    try:
        target = checked_target(url, allow_private=allow_private)
        if not allow_private:
            await checked_addresses(target.host, target.port, allow_private=False, resolve=resolve)
    except UrlRefused as refusal:
        return f"must be a public http(s) URL. {refusal}" + _hint(url, setting)
    except OSError:  # includes TimeoutError: the name cannot be resolved now
        return None
    return None


def _hint(url: str, setting: str | None) -> str:
    """Name the setting that allows the URL, or return an empty text if none does."""
    if setting is None:
        return ""
    try:
        checked_target(url, allow_private=True)
    except UrlRefused:
        return ""
    return f" Whoever runs the farm can allow private addresses with {setting}=true."
