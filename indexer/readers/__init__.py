"""Readers of documents, one module per format; ``registry`` chooses the reader of a source."""
