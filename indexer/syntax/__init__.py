"""Parts of speech and noun phrases of English text, for whole batches of documents as arrays."""
