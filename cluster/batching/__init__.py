"""Videos from the rows of a table."""
