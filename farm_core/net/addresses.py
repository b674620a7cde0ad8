"""Rules for public URLs and addresses. Pure: this module resolves no names.

The rules are those of the interface ("Value rules at render time", "Delivery rules"). Some resolvers read hosts such
as octal, hexadecimal, single or short numbers as addresses; so does this module, as browsers do
(https://url.spec.whatwg.org/#concept-ipv4-parser).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

import idna

URL_LENGTH_MAX: Final = 2048
_HOST_LENGTH_MAX: Final = 253
_LONG_AUTHORITY: Final = re.compile(r"[^/?#]*+//[^/?#]{320}")
"""Start of a URL whose host is longer than any host name. Normalising a longer one takes milliseconds."""
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_PRIVATE_SUFFIXES: Final = ("localhost", "local", "internal")
_METADATA_HOSTS: Final = frozenset({"metadata.google", "metadata.goog", "metadata.azure.com"})
_NOT_PUBLIC_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",  # metadata service of Azure virtual machines
    )
)  # fmt: skip
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_V6: Final = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAT64: Final = IPv6Network("64:ff9b::/96")


class UrlRefused(Exception):
    """The URL is not allowed; the message is the reason, fit for callers."""


@dataclass(frozen=True, slots=True)
class Target:
    """Scheme, host and port of a URL. `host` is ASCII, lower case, without a trailing dot."""

    scheme: str
    host: str
    port: int


def checked_target(url: str, *, allow_private: bool) -> Target:
    """Return the URL's target. Raises UrlRefused if the URL breaks a rule.

    With `allow_private` it must still be a valid http(s) URL without user info.
    """
    if len(url) > URL_LENGTH_MAX:
        raise UrlRefused(f"The URL is longer than {URL_LENGTH_MAX} characters.")
    if _FORBIDDEN.search(url):
        raise UrlRefused("The URL holds a character that is not allowed.")
    if _LONG_AUTHORITY.match(url):
        raise UrlRefused("The host name is not valid.")
    parts = _split(url)
    host = _ascii_host(parts)
    if not allow_private:
        _refuse_private_name(host)
    return Target(parts.scheme, host, parts.port or {"http": 80, "https": 443}[parts.scheme])


@lru_cache(4096)
def unmapped(address: str) -> str:
    """Return the IPv4 address in an IPv4-mapped IPv6 address, as dual-stack sockets name IPv4 clients, or else the
    address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return address if mapped is None else str(mapped)


@lru_cache(4096)
def subscriber(address: str) -> str:
    """Return the address that limits per caller count: the /64 of an IPv6 address, which one machine can own, or else
    the address.

    An IPv4-mapped address counts as IPv4. A text that is no address counts as itself.
    """
    try:
        parsed = ip_address(address.split("%", 1)[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Network((parsed, 64), strict=False))


def is_public(address: str) -> bool:
    """Return True if an address (text, IPv4 or IPv6) is on the public internet."""
    try:
        parsed = ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    return _is_public_v4(parsed) if isinstance(parsed, IPv4Address) else _is_public_v6(parsed)


def number_host(host: str) -> IPv4Address | None:
    """Return the IPv4 address that a host spells as numbers, or None for a name. Raises UrlRefused for an invalid
    number."""
    labels = host.split(".")
    if not _is_number(labels[-1]):
        return None
    if len(labels) > 4:
        raise UrlRefused("The host is not a valid address.")
    return _address_of([_number(label) for label in labels])


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UrlRefused("The URL is not valid.") from None
    if parts.scheme not in ("http", "https"):
        raise UrlRefused("The URL must begin with http:// or https://.")
    if port == 0 or not parts.hostname:
        raise UrlRefused("The URL is not valid.")
    if "@" in parts.netloc:
        raise UrlRefused("The URL must not hold a user name or password.")
    return parts


def _ascii_host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    if "[" in parts.netloc or ":" in host:
        raise UrlRefused("Raw IPv6 addresses are not allowed.")
    if len(host) > _HOST_LENGTH_MAX:
        raise UrlRefused("The host name is not valid.")
    try:
        return idna.encode(host, uts46=True).decode() if not host.isascii() else _plain(host)
    except idna.IDNAError:
        raise UrlRefused("The host name is not valid.") from None


def _plain(host: str) -> str:
    if not re.fullmatch(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", host):
        raise UrlRefused("The host name is not valid.")
    return host


def _refuse_private_name(host: str) -> None:
    if host in _METADATA_HOSTS or host.rsplit(".", 1)[-1] in _PRIVATE_SUFFIXES:
        raise UrlRefused("The host is private.")
    address = number_host(host)
    if address is not None:
        if not _is_public_v4(address):
            raise UrlRefused("The address is private.")
    elif "." not in host:
        raise UrlRefused("The host name is not public.")


def _is_number(label: str) -> bool:
    return bool(re.fullmatch(r"\d+|0x[0-9a-f]*", label))


def _number(label: str) -> int:
    try:
        if label.startswith("0x"):
            return int(label[2:] or "0", 16)
        return int(label, 8 if label.startswith("0") else 10)
    except ValueError:
        raise UrlRefused("The host is not a valid address.") from None


def _address_of(numbers: list[int]) -> IPv4Address:
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise UrlRefused("The host is not a valid address.")
    value = last
    for index, number in enumerate(leading):
        value += number << (8 * (3 - index))
    return IPv4Address(value)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_V4)


def _is_public_v6(address: IPv6Address) -> bool:
    embedded = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None)
    if embedded is not None:
        return _is_public_v4(embedded)
    return address in _GLOBAL_V6 and not any(address in network for network in _NOT_PUBLIC_V6)
