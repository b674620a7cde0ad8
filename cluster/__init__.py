"""Run the farm on one machine or many. Carry work from schedulers to the renderer, by Ray.

- Scheduler's process: `ray_executor.py` implements the port of `scheduler/ports.py`. It sends assignments to the actors that
  `ray_workers.py` keeps in the `slots.py` of the nodes. `ray_cluster.py` makes Ray's calls, `liveness.py` finds dead clusters.
- Worker's process: `worker`.
- Ray's nodes of several machines: `ray_command.py`, which the units in `systemd` and `ray` in the image run.
- Parts of `./farm up`: `local` starts and supervises them, `embedded` holds its own Postgres and Valkey.
- Commands: `commands`, with `backups`, `batching` and `diagnosis`.
- Files for operators: `setup`, `systemd`, `compose.yaml`, `docker`, `helm`, `ray`, `proxy` and `observing`.
"""
