"""The account's own usage, keys and webhooks."""
