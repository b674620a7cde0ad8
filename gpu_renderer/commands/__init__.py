"""Commands that draw and encode on this machine, without any service."""
