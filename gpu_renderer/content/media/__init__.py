"""Pictures and video, decoded to premultiplied sRGB rasters."""
