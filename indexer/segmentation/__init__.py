"""Find the phrases of a model in encoded text."""
