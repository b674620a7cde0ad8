"""How the suite runs: which tests, in which order, with a live count and recorded durations."""
