"""Check addresses before a program listens on them."""

from __future__ import annotations

import socket

from farm_core.user_error import UserError


class AddressUnusable(UserError):
    """A program cannot listen on the requested address."""


def check_free(host: str, port: int) -> None:
    """Raise AddressUnusable unless a program can listen on the address now."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise AddressUnusable(
            f"cannot listen on {host}, port {port}: {error.strerror}; see --host and --port"
        ) from error
