"""Example bundles of our own making, and the scripts that make them."""
