"""Quotas and the monthly usage record."""
