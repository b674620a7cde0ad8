"""Stored files, by signed link."""
