"""Accounts of the farm, for operators."""
