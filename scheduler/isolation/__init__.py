"""Isolation of accounts from the slow frames and the crashes of others: which worker may hold which task, for how long, and what happens
after that.

`rules.py` states every rule once, as pure functions. They read the workers and tasks of this scheduler at one time (`View`) and what it
remembers (`Evidence`). `learning.py` has the rules of what is remembered, and `isolation.py` shares it between schedulers. The dispatcher, the task watcher, the circuit breaker and the collector ask them, and act.
"""
