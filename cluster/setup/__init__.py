"""Set-up: what `./farm` does before Python, and what the installed command does instead."""
