"""Usage, keys and webhooks of an account."""
