"""Counts of finished renders by minute, for charts."""
