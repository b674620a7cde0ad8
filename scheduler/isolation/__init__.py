"""Isolation of accounts from the slow frames and the crashes of others: which worker may hold which task, for how long, and what happens
after that.

- `rules.py` states every rule once, as pure functions of `View` and `Evidence`.
- `state.py` defines these: the present workers and tasks of this scheduler, and what it has observed.
- `learning.py`, also pure, updates the evidence.
- `isolation.py` holds the evidence for the services of a scheduler and shares it with other schedulers.

The dispatcher, the task watcher, the circuit breaker and the collector ask the rules, and act.
"""
