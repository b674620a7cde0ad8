"""Uploaded media."""
