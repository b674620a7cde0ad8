"""Evaluation of a composition at a time: pure functions from stored animation to the numbers of a snapshot."""
