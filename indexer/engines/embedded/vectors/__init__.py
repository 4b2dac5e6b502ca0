"""Vectors of documents in the embedded engine: how they are written, kept and searched."""
