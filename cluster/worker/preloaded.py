"""Code of a render worker. A worker's process imports it before an actor needs the process (`process.py`)."""

from __future__ import annotations

import gc

import cluster.worker.render_actor
import cluster.worker.render_sandbox
import cluster.worker.render_thread
import cluster.worker.segment_maker  # noqa: F401

gc.freeze()  # the code's own objects never die
gc.enable()
