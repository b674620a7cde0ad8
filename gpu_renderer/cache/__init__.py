"""Caches by value: a byte-bounded LRU for anything, and one for render targets."""
