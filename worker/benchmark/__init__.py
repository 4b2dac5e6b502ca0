"""Speed in figures: every ratio with both its sides measured in one run."""
