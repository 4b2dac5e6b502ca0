"""Measurements of speed and memory: both sides of every ratio are measured in one run."""
