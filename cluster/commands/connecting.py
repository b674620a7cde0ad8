"""Connect a command to a farm's API: the named server and key, or the farm that runs on the data folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import urlsplit

from render_farm_client import AsyncFarmClient, FarmClient

from cluster.local.accounts import session_token
from farm_core import running
from farm_core.cli.argument_types import folder
from farm_core.settings import settings
from farm_core.user_error import UserError

Client = TypeVar("Client")
LOCAL: Final = "local"
"""Default account."""


class NoFarm(UserError):
    """No farm was named and none runs here. The message says how to name one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--server`, `--key`, `--account` and `--data`."""
    parser.add_argument(
        "--server", type=_origin, metavar="URL", help="the farm's origin (default: the farm that runs here)"
    )
    parser.add_argument("--key", metavar="KEY", help="an API key of that farm")
    parser.add_argument(
        "--account", metavar="NAME", help=f"account on the farm that runs here (default: {LOCAL}, made when missing)"
    )
    parser.add_argument("--data", type=folder, default=None, metavar="DIR", help="the farm's data folder (.farm)")


def _origin(text: str) -> str:
    """Parse the value of `--server`."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number, or the IPv6 address is incomplete
        usable = False
    if not usable:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as https://farm.example.com")
    return text


def credential(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the farm's origin and a credential. Print the account if it is the default. Raises NoFarm, NoAccount."""
    if arguments.server is not None:
        if arguments.key is None:
            raise NoFarm("--server needs --key, an API key of that farm")
        return arguments.server, arguments.key
    chosen = settings()
    folder = (arguments.data or chosen.data_folder).resolve()
    found = running.read(folder)
    if found is None:
        raise NoFarm(f"no farm runs on {folder}: start one with ./farm up, or name one with --server and --key")
    if arguments.key is not None:
        return found.origin, arguments.key
    local = chosen.model_copy(update={"data_folder": folder})
    name = arguments.account or LOCAL
    if arguments.account is None:  # use stderr: stdout carries the template or the agent's protocol
        print(f"farm: works as the account {name}; --account NAME names another", file=sys.stderr)
    return found.origin, session_token(local, found.database_url, name, make=arguments.account is None)


def client(arguments: argparse.Namespace) -> FarmClient:
    """Return a client of the farm. Raises NoFarm."""
    return _made(FarmClient, arguments)


def async_client(arguments: argparse.Namespace) -> AsyncFarmClient:
    """Return an asynchronous client of the same farm. Raises NoFarm."""
    return _made(AsyncFarmClient, arguments)


def _made(kind: Callable[[str, str], Client], arguments: argparse.Namespace) -> Client:
    server, key = credential(arguments)
    try:
        return kind(server, key)
    except ValueError as error:
        raise NoFarm(f"--key: {error}") from None
