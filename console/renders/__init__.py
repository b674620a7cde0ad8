"""List of renders, and page of a render."""
