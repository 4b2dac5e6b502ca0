"""Analyse documents with a phrase model: phrase occurrences, BM25 edges, salient phrases."""
