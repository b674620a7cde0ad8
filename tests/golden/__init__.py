"""Small documents, each about one feature, and what the software rasteriser draws for them."""
