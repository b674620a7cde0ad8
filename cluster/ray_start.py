"""`ray start` that also works on a busy machine: `python -m cluster.ray_start` takes the options of `ray start`.

Ray ends a node whose agents have chosen no ports after 15 s, or that is not registered after 30 s. On a busy machine or with a
slow disk every start can take longer, so the node would never join.
"""

from __future__ import annotations

import sys

from ray._private import node
from ray.scripts.scripts import cli

from cluster.local.ray_node import PatientNode

if __name__ == "__main__":
    node.Node = PatientNode
    cli(["start", *sys.argv[1:]])
