"""The embedded engine: tantivy for search, memory-mapped arrays for the graph, one folder for all of it."""
