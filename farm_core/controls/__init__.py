"""Operator controls of a running farm. Every function writes the audit log in the transaction of its change."""
