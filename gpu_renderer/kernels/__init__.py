"""Bindings of the native kernels: composite, display encoding, NV12, and the conversion of decoded frames."""
