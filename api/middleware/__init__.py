"""Middleware of every request, outermost first, in the order of app.py."""
