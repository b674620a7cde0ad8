"""Rules for outgoing requests, and an HTTP client that applies them."""
