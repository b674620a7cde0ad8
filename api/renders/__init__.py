"""Renders."""
