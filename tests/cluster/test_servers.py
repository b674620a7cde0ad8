"""The operator's own servers: the farm waits for those that are starting, and reports the errors of the others."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from cluster.embedded.process import ServerFailed
from cluster.embedded.valkey import EmbeddedValkey
from cluster.local.servers import wait_for_servers
from farm_core.settings import Settings


def never() -> bool:
    return False


@pytest.mark.parametrize(
    ("setting", "address", "message"),
    [
        ("database_url", "postgresql://127.0.0.1:1/farm", "the database cannot be used: "),
        ("redis_url", "redis://127.0.0.1:1", "Redis cannot be used: "),
        ("redis_url", "unix:///nowhere/redis.sock", "Redis cannot be used: "),
        ("ray_address", "127.0.0.1:1, 127.0.0.1:2", "Ray cannot be used: 127.0.0.1:1 accepts no connection: "),
    ],
)
def test_a_server_that_does_not_answer_in_time_is_named(setting: str, address: str, message: str) -> None:
    asked: dict[str, Any] = {setting: address}
    with pytest.raises(ServerFailed) as failed:
        wait_for_servers(Settings(**asked), never, seconds=0)
    assert str(failed.value).startswith(message)
    assert str(failed.value).endswith(f"; check {setting.upper()}")
    wait_for_servers(Settings(**asked), lambda: True)  # a signal ends the wait


@pytest.mark.service
def test_a_wrong_password_of_redis_is_refused_at_once(valkey_server: EmbeddedValkey) -> None:
    chosen = Settings(redis_url=f"{valkey_server.url}?username=farm&password=wrong")
    with pytest.raises(ServerFailed, match="invalid username-password pair"):
        wait_for_servers(chosen, never)


def test_one_ray_cluster_of_several_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as cluster:
        port = cluster.getsockname()[1]
        wait_for_servers(Settings(ray_address=f"127.0.0.1:1,127.0.0.1:{port}"), never, seconds=0)
