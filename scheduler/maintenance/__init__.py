"""Maintenance services of the farm. Several schedulers can run them at the same time."""
