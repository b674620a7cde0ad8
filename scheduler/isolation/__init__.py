"""Isolation of accounts from the slow frames and the crashes of others: which worker may hold which task, for how long, and what happens
after that.

`rules.py` states every rule once, as pure functions. They read the workers and tasks of this scheduler at one time (`View`) and what it
remembers (`Evidence`). The dispatcher, the task watcher, the circuit breaker and the collector ask them, and act.
"""
