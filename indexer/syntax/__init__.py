"""Parts of speech of English text, for whole batches of documents as arrays."""
