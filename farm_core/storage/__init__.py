"""Object storage: one port, with implementations for local files and S3."""
