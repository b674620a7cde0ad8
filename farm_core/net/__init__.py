"""Addresses that may be reached, and the client that reaches only them."""
