"""Build, update and export an index."""
