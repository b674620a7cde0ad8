"""Templates: gallery, one template, import."""
