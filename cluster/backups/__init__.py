"""Backups of the embedded stores: one archive with the database, the objects and the secret."""
