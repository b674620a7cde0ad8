"""The farm at a glance, for operators."""
