"""Frames from the GPU that draws to the encoder on the same card, without a trip through the processor's memory."""
