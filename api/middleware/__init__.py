"""What every request passes, outermost first, as app.py lists it."""
