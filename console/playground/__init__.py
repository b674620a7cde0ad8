"""Playground: fill in a template's inputs and preview the frame."""
