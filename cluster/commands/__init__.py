"""Commands that start the farm, use it, or check its machine."""
