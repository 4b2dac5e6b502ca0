"""How a phrase is written for people."""
