"""Batches: many renders of one template by one request."""
