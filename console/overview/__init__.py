"""Overview of the farm, for operators."""
