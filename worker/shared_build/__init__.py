"""Coordinator of a build whose slices are computed by workers."""
