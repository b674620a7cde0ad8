"""Templates."""
