"""The phrase model of an epoch: phrases, frequencies and topic vectors, and BM25 over it."""
