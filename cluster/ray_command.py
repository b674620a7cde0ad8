"""Ray's command `ray`, whose nodes also start on a busy machine: `python -m cluster.ray_command start --head`.

Ray ends a node whose agents have chosen no ports after 15 s, or that is not registered after 30 s. On a busy machine or with a
slow disk every start can take longer, so the node would never join. In the image, `ray` is this program.
"""

from __future__ import annotations

from ray._private import node
from ray.scripts.scripts import main

from cluster.local.ray_node import PatientNode

if __name__ == "__main__":
    node.Node = PatientNode
    main()
