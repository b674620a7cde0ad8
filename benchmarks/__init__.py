"""The benchmark suite: a question, a fixed scene, a machine line, a stored result."""
