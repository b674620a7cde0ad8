"""Checks of `./farm doctor`."""
