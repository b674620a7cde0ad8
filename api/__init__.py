"""FastAPI: HTTP only."""
