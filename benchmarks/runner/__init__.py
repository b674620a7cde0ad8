"""The command `bench`: find benchmarks, run them, and keep, show and compare their results."""
