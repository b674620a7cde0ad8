"""The resolved document: every default filled, every reference followed, nothing mutable but caches (`Layer.constants`)."""
