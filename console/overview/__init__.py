"""Farm at a glance, for operators."""
