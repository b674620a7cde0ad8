"""Render workers, for operators."""
