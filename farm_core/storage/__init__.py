"""Object storage: one port, and its implementations (local files, S3)."""
