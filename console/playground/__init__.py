"""Fill in a template's inputs and see the frame at once."""
