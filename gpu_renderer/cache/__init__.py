"""Caches by value: an LRU cache with a byte budget, and one for render targets."""
