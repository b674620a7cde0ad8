"""Accounts, plans, session tokens and API keys."""
