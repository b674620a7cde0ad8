"""What a frame draws, as plain data: render graph, operations, paint bounds. The same for every backend."""
