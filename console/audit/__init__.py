"""The audit log, for operators."""
