"""Templates: frozen compositions with declared inputs."""
