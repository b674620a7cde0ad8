"""Layer content (text, vector, media, SVG) as rasters, made once and cached by value. No GPU."""
