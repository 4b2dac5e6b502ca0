"""Analyse documents with a phrase model: occurrences, BM25 edges, salient phrases."""
