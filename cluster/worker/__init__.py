"""The worker: a process that renders. Only `render_actor.py` uses Ray.

- `render_actor.py`: the process as a Ray actor. `render_thread.py`: its thread, which owns the GL context.
- Order of work: `turns.py` for assignments, `still_queue.py` for stills.
- Work: `reporting.py` executes an assignment and reports its progress. `task_runner.py` executes a segment with
  `segment_maker.py` (behind `segment_maker_port.py`) or an assembly with `assembly.py`; `failures.py` says what became of it.
  `still_file.py` encodes a still.
- Storage: `media_cache.py` holds documents and media on the worker's disk.
- Limits: `render_sandbox.py` (with `farm_core/landlock.py`), `memory_watch.py` and `sound_watch.py`.
- GPU: `egl_devices.py` finds the device that Ray assigned.
"""
