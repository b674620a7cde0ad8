"""Web console: pages over the same services as the API, for people who are signed in."""
