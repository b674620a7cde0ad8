"""Duties that keep the farm tidy. Any number of schedulers may do them at once."""
