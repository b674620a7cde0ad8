"""Plane geometry, pixel regions, damage and colour. Plain numbers, no pixels, no GPU."""
