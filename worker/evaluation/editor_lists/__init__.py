"""Comparisons measured against lists that an editor wrote by hand, and against verdicts of readers."""
