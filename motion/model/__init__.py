"""The resolved document: every default filled, every reference followed, immutable except for caches
(`Layer.constants`).
"""
