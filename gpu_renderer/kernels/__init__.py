"""Bindings of the native kernels: compositing, display encoding, NV12, windows of effects, conversion of decoded frames."""
