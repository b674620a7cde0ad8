"""Animation presets."""
