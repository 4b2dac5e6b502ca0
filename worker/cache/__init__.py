"""Caches of answers, document versions and readable ids."""
