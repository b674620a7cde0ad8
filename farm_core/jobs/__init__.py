"""Render jobs: state machines, tables, and transitions with their effects."""
