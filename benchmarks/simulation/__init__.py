"""The real scheduler on a real Postgres, in simulated time, with simulated workers."""
