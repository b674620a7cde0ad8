"""Former path of `cluster/worker/render_thread.py`: workers of release 0.3 name it, and a new scheduler takes them over."""

from cluster.worker.render_thread import RenderThread

__all__ = ["RenderThread"]
