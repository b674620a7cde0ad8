"""Plain data of a frame, the same for every backend: render graph, draw operations, paint bounds."""
