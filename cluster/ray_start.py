"""`ray start` that also works on a busy machine: `python -m cluster.ray_start` takes the options of `ray start`.

Ray ends a node whose agents have chosen no ports after 15 s, or that is not registered after 30 s. On a busy machine or with a
slow disk every start can take longer, so the node would never join.
"""

from __future__ import annotations

import sys

from ray._private import node
from ray._private.parameter import RayParams
from ray.scripts.scripts import cli

from cluster.local.ray_node import agent_ports, announce_listen_port, wait_until_registered


class PatientNode(node.Node):  # type: ignore[misc]  # Ray has no types
    """A node whose agents' ports are chosen before it starts, and that has the farm's own time to register."""

    def __init__(self, parameters: RayParams, *words: object, **options: object) -> None:
        for name, port in agent_ports().items():
            if not getattr(parameters, name):
                setattr(parameters, name, port)
        super().__init__(parameters, *words, **options)

    def start_ray_processes(self) -> None:
        """Start the raylet and wait until it is registered."""
        super().start_ray_processes()
        wait_until_registered(self)

    def start_raylet(self, *words: object, **options: object) -> None:
        """Start the raylet with the chosen ports."""
        announce_listen_port(self)
        super().start_raylet(*words, **options)


if __name__ == "__main__":
    node.Node = PatientNode
    cli(["start", *sys.argv[1:]])
