"""Former path of `cluster/worker/memory_watch.py`: workers of release 0.3 name it, and a new scheduler takes them over."""

from cluster.worker.memory_watch import MemoryWatch

__all__ = ["MemoryWatch"]
