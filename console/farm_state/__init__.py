"""State of the farm, read for the overview, the page of workers and live events."""
