"""Batches: many renders of one template, created by one request."""
