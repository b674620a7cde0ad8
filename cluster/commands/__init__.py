"""Commands that start the farm or look at its machines."""
