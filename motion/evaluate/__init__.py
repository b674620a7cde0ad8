"""Evaluation of a composition at a time: pure functions from the resolved model to the numbers of a snapshot."""

from motion.evaluate.frame import snapshot

__all__ = ["snapshot"]
