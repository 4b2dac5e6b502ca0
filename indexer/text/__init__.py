"""Split text into tokens, lemmatize them, and find phrases among them."""
