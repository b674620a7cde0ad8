"""What `./farm doctor` looks at."""
