"""Render jobs: the state machines, the tables, and the transitions with their effects."""
