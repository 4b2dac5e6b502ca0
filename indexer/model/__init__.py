"""The phrase model of an epoch: phrases, frequencies, topic vectors, and BM25 over it."""
