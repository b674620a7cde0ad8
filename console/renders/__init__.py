"""List of renders, and one render."""
