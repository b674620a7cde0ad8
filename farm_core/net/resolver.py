"""Names to addresses: every answer checked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from farm_core.net.addresses import UrlRefused, checked_target, is_public, number_host

RESOLVE_SECONDS = 5.0

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Gives the addresses of a host name (and port), or raises OSError."""


async def system_resolver(host: str, port: int) -> list[str]:
    """What the machine's resolver answers, in its order, without repeats."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(RESOLVE_SECONDS):
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


async def checked_addresses(host: str, port: int, *, allow_private: bool, resolve: Resolver) -> list[str]:
    """The host's addresses, if every one of them may be reached. Raises UrlRefused, or OSError where none is known."""
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
    """Why the URL may not be used, or None. A name that does not resolve now is no fault: it is checked again on use.

    `setting` is the variable that would allow it: it is named where nothing but the private address is wrong.
    """
    if not isinstance(url, str):
        return "must be a string"
    try:
        target = checked_target(url, allow_private=allow_private)
        if not allow_private:
            await checked_addresses(target.host, target.port, allow_private=False, resolve=resolve)
    except UrlRefused as refusal:
        return f"must be a public http(s) URL. {refusal}" + _way_round(url, setting)
    except OSError:  # also TimeoutError: the name is not known, or not now
        return None
    return None


def _way_round(url: str, setting: str | None) -> str:
    if setting is None:
        return ""
    try:
        checked_target(url, allow_private=True)
    except UrlRefused:
        return ""
    return f" Whoever runs the farm can allow private addresses with {setting}=true."
