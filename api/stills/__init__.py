"""Stills: frames of templates and of finished renders."""
