"""Sign-in of people to the console: one-time links and sessions."""
