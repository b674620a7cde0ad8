"""Run the farm: Ray executor, render actor, GPU devices, the embedded farm on one machine."""
