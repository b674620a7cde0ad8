"""Former path of `cluster/worker/render_actor.py`: workers of release 0.3 name it, and a new scheduler takes them over."""

from cluster.worker.render_actor import ActorReport, _cuda_index, _sandboxed_runner

__all__ = ["ActorReport", "_cuda_index", "_sandboxed_runner"]
