"""Bindings of the native kernels: composite, display encoding, NV12, windows of effects, and the conversion of decoded frames."""
