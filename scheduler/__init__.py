"""The scheduler: decides what runs where and when. Its state is in Postgres, and its workers are behind a port."""
