"""Segment encoded text into the phrases of a model."""
