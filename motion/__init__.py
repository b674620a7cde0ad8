"""Pure functions over a document: bytes -> records -> model -> snapshot at time t. No I/O, clock, GPU or service."""
