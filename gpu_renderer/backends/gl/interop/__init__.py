"""Hand frames from the GPU that draws to the encoder on the same card, without a copy through main memory."""
