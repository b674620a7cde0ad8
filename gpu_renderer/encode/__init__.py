"""H.264 in MP4: choosing an encoder, writing closed segments, joining them, checking the result."""
