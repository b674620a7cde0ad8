"""Audit log, for operators."""
