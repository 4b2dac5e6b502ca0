"""Rows of the benchmark about vectors of documents."""
