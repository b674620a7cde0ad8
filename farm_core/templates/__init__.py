"""Templates: frozen compositions with a manifest of inputs."""
