"""Liveness, readiness, metrics."""
