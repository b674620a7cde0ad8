"""Render one video for each row of a table."""
