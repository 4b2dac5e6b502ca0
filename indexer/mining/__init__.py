"""Mine a corpus into a phrase model: frequent patterns, their quality, acronyms, display forms (SegPhrase)."""
