"""The embedded engine: tantivy for full-text search and memory-mapped arrays for the phrase graph, in one folder."""
