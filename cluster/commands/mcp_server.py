"""A Model Context Protocol server over the API, for agents: list templates, preview frames, render, get links.

The server uses standard input and output, or with --http HTTP at /mcp. Without --server it works on the farm that runs here.
"""

from __future__ import annotations

import argparse
import signal
import sys

from render_farm_client.tools import server

from cluster.commands import connecting
from cluster.local.addresses import check_free
from farm_core.cli.argument_types import whole
from farm_core.release import version


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--http` and the options that select the farm."""
    parser.add_argument("--http", action="store_true", help="serve over HTTP instead of standard input and output")
    parser.add_argument("--host", default="127.0.0.1", help="address for --http (127.0.0.1)")
    parser.add_argument("--port", type=whole(1, 65535), default=8765, help="port for --http (8765)")
    connecting.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client ends the connection. Raises NoFarm, AddressUnusable."""
    made = server(connecting.async_client(arguments), version(), reads_files=not arguments.http)
    if arguments.http:
        check_free(arguments.host, arguments.port)
        print(f"serves http://{arguments.host}:{arguments.port}/mcp until Ctrl-C", file=sys.stderr)
        made.run("streamable-http", host=arguments.host, port=arguments.port)
    else:
        # There is nothing to clean up, and the blocked reader thread would keep the process alive.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        made.run("stdio")
    return 0
