"""Ray's fake nodes, which its autoscaler starts on the head's machine, with the farm's own time to start."""

from __future__ import annotations

from ray._private import node
from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider

from cluster.local.ray_node import PatientNode


class PatientNodes(FakeMultiNodeProvider):  # type: ignore[misc]  # Ray has no types
    """Provider of a cluster file. Ray itself gives up a node after 30 s and does not end its processes."""

    def create_node_with_resources_and_labels(self, *words: object, **options: object) -> object:
        """Start nodes."""
        node.Node = PatientNode
        return super().create_node_with_resources_and_labels(*words, **options)
