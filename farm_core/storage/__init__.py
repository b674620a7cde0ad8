"""Where bytes are kept: one port, and its implementations (local files, S3, memory)."""
