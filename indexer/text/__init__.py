"""Text to tokens to lemmas, and phrase search in tokens."""
