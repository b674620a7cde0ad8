"""Video files: choose an encoder, write closed segments, join them, check the result."""
