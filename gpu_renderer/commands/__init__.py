"""Commands that draw and encode without any service."""
