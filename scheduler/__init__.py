"""The scheduler: decides which worker renders which task, and when. Postgres holds its state; a port hides its
workers."""
