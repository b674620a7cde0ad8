"""Small documents, each about one feature, with their pictures from the software rasteriser."""
