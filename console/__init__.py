"""Web console for signed-in users, built on the same services as the API."""
