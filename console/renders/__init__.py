"""The list of renders, and one render."""
