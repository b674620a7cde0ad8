"""Render a template once for each row of a table."""
