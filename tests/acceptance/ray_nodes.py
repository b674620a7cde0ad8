"""Ray nodes in the process of a test."""

from __future__ import annotations

from typing import Any

import pytest

from tests.patience import HANG_SECONDS


def start_patiently(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes of Ray's own test clusters start as slowly as those of the farm may, and wait for them. They need
    `agent_ports`."""
    from ray._private.node import Node

    from cluster import ray_cluster
    from cluster.local.ray_node import REGISTER_LIMITS, announce_listen_port, wait_until_registered

    for limit in ("CONNECT_SECONDS", "JOIN_SECONDS"):  # the farm would start a scheduler again
        monkeypatch.setattr(ray_cluster, limit, HANG_SECONDS)
    for name, limit in REGISTER_LIMITS.items():
        monkeypatch.setenv(name, limit)
    start = Node.start_ray_processes

    def start_and_wait(node: Any) -> None:
        announce_listen_port(node)
        start(node)
        wait_until_registered(node)

    monkeypatch.setattr(Node, "start_ray_processes", start_and_wait)
